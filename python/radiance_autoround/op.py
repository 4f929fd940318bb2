"""torch.ops.radiance: the W4A8 linear layer as operators that own their whole dispatch.

    packed_linear(x, packed, n, bias=None)                          over a weight of pack() or pack_mxfp4()
    autoround_linear(x, qweight, scales, group_size, bias=None)     over a checkpoint's own tensors

Activation quantization, the choice of the kernel, scratch and stream are inside, so that a compiler sees one node
whatever the number of tokens is. Any leading dimensions; x in bf16, fp16 or fp32, and the result in x's dtype.
"""

from __future__ import annotations

import ctypes
import threading

import torch
from torch import library as torch_library

from radiance_autoround import direct
from radiance_autoround._library import BF16, F16, F32, FORWARD_ARGS, LIBRARY, RadianceError, error_of
from radiance_autoround.packed_cache import packed_of
from radiance_autoround.packing import checked_weight
from radiance_autoround.weights import Weight, count_lock, find

DTYPES = {torch.bfloat16: BF16, torch.float16: F16, torch.float32: F32}


class Arguments(threading.local):
    """A thread's radiance_forward_args."""

    def __init__(self) -> None:
        buffer = ctypes.create_string_buffer(FORWARD_ARGS.size)
        self.made = buffer, ctypes.addressof(buffer)


_arguments = Arguments()
# Names of this module are found faster than attributes of others.
_forward = LIBRARY.radiance_forward
_pack_into, _size = FORWARD_ARGS.pack_into, FORWARD_ARGS.size


def run(weight: Weight, x: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """The layer. What stands here costs every call: it is written for the clock."""
    n, shape, dtype = weight.n, x.shape, DTYPES.get(x.dtype)
    k = weight.k
    if dtype is None or not shape or shape[-1] != k:
        raise refusal(weight, x)
    # Separate arguments: parsing a tuple of them takes a microsecond more.
    if len(shape) == 2:
        m = shape[0]
        y = x.new_empty(m, n)
    else:
        m = shape[:-1].numel()
        y = x.new_empty(*shape[:-1], n)
    if m == 0:
        return y
    ldx = k
    if not x.is_contiguous():
        x, ldx = rows_of(x)
    bias_pointer = bias_dtype = 0
    if bias is not None:
        bias = checked_bias(weight, x, bias)
        bias_pointer, bias_dtype = bias.data_ptr(), DTYPES[bias.dtype]
    if not weight.handle:  # of the process that this one was forked from
        weight.open()
    needed = weight.needs[(m - 1).bit_length()] or weight.workspace_bytes(m)
    workspace, stream = weight.device.workspace(needed)
    arguments = _arguments.made
    _pack_into(arguments[0], 0, _size, m, x.data_ptr(), dtype, ldx, y.data_ptr(), dtype, n, bias_pointer, bias_dtype,
               workspace.pointer, workspace.bytes, stream)
    if status := _forward(weight.handle, arguments[1]):
        raise error_of(status, weight.name)
    with count_lock:
        weight.calls += 1
        weight.rows += m
    return y


def refusal(weight: Weight, x: torch.Tensor) -> RadianceError:
    name = weight.name or "packed_linear"
    if x.dtype not in DTYPES:
        return RadianceError(f"{name}: x is {x.dtype}, supported are bfloat16, float16 and float32", "unsupported")
    if x.device != weight.torch_device:
        return RadianceError(f"{name}: x is on {x.device}, the weight on {weight.torch_device}")
    return RadianceError(f"{name}: x is {list(x.shape)}, its last dimension must be K = {weight.k}")


def checked_bias(weight: Weight, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    name = weight.name or "packed_linear"
    if bias.dtype not in DTYPES:
        raise RadianceError(f"{name}: bias is {bias.dtype}, supported are bfloat16, float16 and float32", "unsupported")
    if bias.shape != (weight.n,) or bias.device != x.device:
        raise RadianceError(f"{name}: bias is {list(bias.shape)} on {bias.device}, it must be [{weight.n}] on {x.device}")
    return bias.contiguous()


def rows_of(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    """x as rows with one distance between them, copied where its strides do not allow that."""
    rows = x.reshape(-1, x.shape[-1])
    if rows.stride(1) == 1 and rows.stride(0) >= rows.shape[1]:
        return rows, rows.stride(0)
    rows = rows.contiguous()
    return rows, rows.shape[1]


# ---- the operators ----

_library = torch_library.Library("radiance", "DEF")
_tags = (torch.Tag.pt2_compliant_tag,)
_library.define("packed_linear(Tensor x, Tensor packed, SymInt n, Tensor? bias=None) -> Tensor", tags=_tags)
_library.define("autoround_linear(Tensor x, Tensor qweight, Tensor scales, int group_size, Tensor? bias=None) -> Tensor",
                tags=_tags)


def packed_linear(x: torch.Tensor, packed: torch.Tensor, n: int, bias: torch.Tensor | None = None) -> torch.Tensor:
    weight = find(packed)  # on the CPU all are there, or torch had chosen a GPU's
    if weight.n != n:
        raise RadianceError(f"{weight.name or 'packed_linear'}: n is {n}, the packed weight has N = {weight.n}")
    return run(weight, x, bias)


def fake_packed_linear(x, packed, n, bias=None):
    return x.new_empty((*x.shape[:-1], n))


def autoround_linear(x: torch.Tensor, qweight: torch.Tensor, scales: torch.Tensor, group_size: int,
                     bias: torch.Tensor | None = None) -> torch.Tensor:
    return run(find(packed_of(qweight, scales, group_size, x.device)), x, bias)


def fake_autoround_linear(x, qweight, scales, group_size, bias=None):
    n, k = checked_weight("autoround_linear", qweight, scales, group_size)
    torch._check(x.shape[-1] == k, lambda: f"autoround_linear: x is {list(x.shape)}, its last dimension must be K = {k}")
    return x.new_empty((*x.shape[:-1], n))


def packed_linear_on_gpu(x: torch.Tensor, packed: torch.Tensor, n: int,
                         bias: torch.Tensor | None = None) -> torch.Tensor:
    if x.device != packed.device:
        raise refusal(find(packed), x)
    return packed_linear(x, packed, n, bias)


def autoround_linear_on_gpu(x: torch.Tensor, qweight: torch.Tensor, scales: torch.Tensor, group_size: int,
                            bias: torch.Tensor | None = None) -> torch.Tensor:
    if not x.device == qweight.device == scales.device:
        raise RadianceError(f"autoround_linear: x is on {x.device}, qweight on {qweight.device}, scales on {scales.device}")
    return autoround_linear(x, qweight, scales, group_size, bias)


if not direct.start(packed_linear):
    _library.impl("packed_linear", packed_linear, "CPU")
_library.impl("packed_linear", packed_linear_on_gpu, "CUDA")  # HIP's tensors have CUDA's key
_library.impl("autoround_linear", autoround_linear, "CPU")
_library.impl("autoround_linear", autoround_linear_on_gpu, "CUDA")
torch_library.register_fake("radiance::packed_linear", fake_packed_linear, lib=_library)
torch_library.register_fake("radiance::autoround_linear", fake_autoround_linear, lib=_library)
