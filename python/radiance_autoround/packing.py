"""Packing weights for a device: once, when they are loaded."""

from __future__ import annotations

import ctypes
import weakref

import torch

from radiance_autoround import direct
from radiance_autoround._library import AUTOROUND_INT4, LIBRARY, MXFP4, RadianceError, WeightDesc, check, sized
from radiance_autoround.devices import CpuDevice, Device, device_of
from radiance_autoround.weights import register

CODES_A_WORD = 8


def pack(qweight: torch.Tensor, scales: torch.Tensor, group_size: int, device: torch.device | str | None = None,
         name: str | None = None) -> torch.Tensor:
    """Packs a weight of an AutoRound or GPTQ checkpoint for a device: qweight int32 [K / 8, N], scales fp16
    [ceil(K / group_size), N], group_size -1 for one group. Returns a uint8 tensor on the device, for packed_linear.
    Its bytes are for this kind of device and this version of the library only."""
    where = name or "pack"
    n, k = checked_weight(where, qweight, scales, group_size)
    desc = sized(WeightDesc, format=AUTOROUND_INT4, n=n, k=k, group=group_size)
    return pack_described(where, desc, qweight, scales, device if device is not None else qweight.device, name)


def pack_mxfp4(codes: torch.Tensor, scales: torch.Tensor, device: torch.device | str | None = None,
               name: str | None = None) -> torch.Tensor:
    """The same for an MXFP4 weight: codes uint8 [N, K / 2], the lower nibble the lower k, scales uint8 [N, K / 32]."""
    where = name or "pack_mxfp4"
    if codes.dtype != torch.uint8 or scales.dtype != torch.uint8 or codes.dim() != 2:
        raise RadianceError(f"{where}: codes are {codes.dtype} {list(codes.shape)} and scales {scales.dtype}; they must be "
                            "uint8 [N, K / 2] and uint8")
    n, k = codes.shape[0], 2 * codes.shape[1]
    if scales.shape != (n, k // 32):
        raise RadianceError(f"{where}: scales are {list(scales.shape)}; for {n} x {k} they must be [{n}, {k // 32}]")
    desc = sized(WeightDesc, format=MXFP4, n=n, k=k, group=32)
    return pack_described(where, desc, codes, scales, device if device is not None else codes.device, name)


def checked_weight(where: str, qweight: torch.Tensor, scales: torch.Tensor, group_size: int) -> tuple[int, int]:
    """(N, K) of a checkpoint's weight. Also for fake tensors: reads shapes only."""
    if qweight.dtype != torch.int32 or qweight.dim() != 2:
        raise RadianceError(f"{where}: qweight is {qweight.dtype} {list(qweight.shape)}, it must be int32 [K / 8, N]")
    k, n = qweight.shape[0] * CODES_A_WORD, qweight.shape[1]
    if group_size != -1 and (group_size < 1 or group_size % CODES_A_WORD):
        raise RadianceError(f"{where}: group_size is {group_size}, supported are multiples of 8 and -1", "unsupported")
    rows = 1 if group_size == -1 else -(-k // group_size)
    if scales.dtype != torch.float16 or scales.shape != (rows, n):
        raise RadianceError(f"{where}: scales are {scales.dtype} {list(scales.shape)}; for {n} x {k} in groups of {group_size} "
                            f"they must be float16 [{rows}, {n}]")
    return n, k


def pack_described(where: str, desc: WeightDesc, codes: torch.Tensor, scales: torch.Tensor,
                   device: torch.device | str, name: str | None) -> torch.Tensor:
    opened = device_of(device)
    codes, scales = codes.detach().cpu().contiguous(), scales.detach().cpu().contiguous()
    desc.codes, desc.scales = codes.data_ptr(), scales.data_ptr()
    size = ctypes.c_size_t()
    check(LIBRARY.radiance_packed_bytes(opened.handle.pointer, ctypes.byref(desc), ctypes.byref(size)), where)
    packed = device_bytes(opened, size.value)
    check(LIBRARY.radiance_pack(opened.handle.pointer, ctypes.byref(desc), packed.data_ptr(), size.value), where)
    register(packed, name)
    return packed


def device_bytes(opened: Device, size: int) -> torch.Tensor:
    """Memory for a packed weight, as a tensor that owns it."""
    if not isinstance(opened, CpuDevice):
        memory = torch.empty(size, dtype=torch.uint8, device=opened.device)
        # The library writes it from the host: earlier work on memory that torch hands out again must be over.
        torch.cuda.current_stream(opened.device).synchronize()
        return memory
    # The library's own memory lies in large pages, without which a core streams at two thirds of its speed.
    pointer = opened.handle.allocate(size)
    memory = (ctypes.c_uint8 * size).from_address(pointer)
    direct.own(pointer)
    weakref.finalize(memory, release, opened, pointer).atexit = False
    return torch.frombuffer(memory, dtype=torch.uint8)


def release(opened: Device, pointer: int) -> None:
    direct.disown(pointer)
    opened.handle.free(pointer)
