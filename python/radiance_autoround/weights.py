"""Which packed weights are known, and how often each was used.

A packed weight is a uint8 tensor that anybody may hold, move into a Parameter or free. Entries are keyed by the
tensor's storage, which a weak reference pins: its address is not given to another storage while the entry exists, so
that memory which was freed and handed out again is never taken for the weight that it held before.
"""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import byref, c_void_p
from dataclasses import dataclass

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from radiance_autoround import direct
from radiance_autoround._library import LIBRARY, LinearInfo, RadianceError, check, sized
from radiance_autoround.devices import Device, device_of, workspace_bytes

FORMATS = {1: "autoround_int4", 2: "mxfp4"}
_lock = threading.RLock()
count_lock = threading.Lock()
_weights: dict[tuple[int, int], Weight] = {}
MOST_ROWS = 2**31 - 1


@dataclass(frozen=True)
class CallCount:
    """How often a weight was multiplied with. A captured graph counts once, when it is captured."""

    name: str | None
    n: int
    k: int
    group: int
    format: str
    device: str
    target: str
    calls: int
    rows: int


class Weight:
    """A layer of the library over a packed weight, which the caller keeps."""

    __slots__ = ("name", "device", "torch_device", "storage", "data", "handle", "n", "k", "group", "format", "target",
                 "bytes", "calls", "rows", "needs", "_process")

    def __init__(self, packed: torch.Tensor, name: str | None):
        if packed.dtype != torch.uint8 or packed.dim() != 1 or not packed.is_contiguous():
            raise RadianceError(f"{name or 'packed'}: a packed weight is a contiguous uint8 tensor of one dimension, this "
                                f"is {packed.dtype} {list(packed.shape)}")
        self.name, self.calls, self.rows = name, 0, 0
        self.torch_device = packed.device
        self.storage = StorageWeakRef(packed.untyped_storage())
        self.data, self.bytes = packed.data_ptr(), packed.numel()
        self.open()

    def open(self) -> None:
        self.device: Device = device_of(self.torch_device)
        self._process = os.getpid()
        self.needs: list[int] = [0] * 32
        if self.torch_device.type == "cuda":
            if torch.cuda.is_current_stream_capturing():
                raise RadianceError(f"{self.name or 'packed'}: the weight is not known yet and its header cannot be read "
                                    "while a graph is captured; call radiance_autoround.register(packed) before")
            torch.cuda.synchronize(self.torch_device)  # Hopper's kernels read ahead of the stream
        handle = c_void_p()
        check(LIBRARY.radiance_linear_create(self.device.handle.pointer, self.data, self.bytes, byref(handle)),
              self.name)
        self.handle: int = handle.value
        info = sized(LinearInfo)
        check(LIBRARY.radiance_linear_get_info(self.handle, byref(info)), self.name)
        self.n, self.k, self.group = info.n, info.k, info.group
        self.format, self.target = FORMATS[info.format], info.target.decode()
        if self.torch_device.type == "cpu":
            direct.add(self.data, self.bytes, self.device.handle.pointer, self.handle, self.n, self.k)

    # Defaults: when the interpreter ends, names of modules may be gone.
    def __del__(self, getpid=os.getpid, destroy=LIBRARY.radiance_linear_destroy, drop=direct.drop) -> None:
        if getpid() == getattr(self, "_process", None) and getattr(self, "handle", None):
            drop(self.data, self.handle)
            destroy(self.handle)

    def workspace_bytes(self, m: int) -> int:
        """For m rows, rounded up to a power of two so that a few sizes serve all calls."""
        power = (m - 1).bit_length()
        if not (needed := self.needs[power]):
            needed = self.needs[power] = workspace_bytes(self.handle, min(1 << power, MOST_ROWS))
        return needed

    def collect(self) -> None:
        """Adds the calls that did not come through Python; under count_lock."""
        if self.torch_device.type == "cpu":
            calls, rows = direct.take_counts(self.data)
            self.calls += calls
            self.rows += rows

    def call_count(self) -> CallCount:
        with count_lock:
            self.collect()
        return CallCount(self.name, self.n, self.k, self.group, self.format, str(self.torch_device), self.target,
                         self.calls, self.rows)


def find(packed: torch.Tensor) -> Weight:
    """The weight in `packed`; made known if it is not. The hot path of every call."""
    weight = _weights.get((packed.untyped_storage()._cdata, packed.data_ptr()))
    if weight is None or weight.bytes != packed.numel():
        return register(packed)
    return weight


def register(packed: torch.Tensor, name: str | None = None) -> Weight:
    """Makes a packed weight known under a layer's name, for messages and counts. Call it when a model is loaded, and
    again after the memory was written in place; a weight that was never registered is made known by its first use,
    which a graph's capture does not allow."""
    key = (packed.untyped_storage()._cdata, packed.data_ptr())
    with _lock:
        _sweep()
        former = _weights.pop(key, None)
        weight = Weight(packed, name if name is not None else former.name if former else None)
        _weights[key] = weight
        return weight


def forget(tensor: torch.Tensor) -> None:
    """Drops what is known of a packed weight, its counts too; of a checkpoint's qweight, its packed forms."""
    from radiance_autoround import packed_cache

    packed_cache.drop(tensor)
    with _lock:
        _weights.pop((tensor.untyped_storage()._cdata, tensor.data_ptr()), None)


def _sweep() -> None:
    for key in [key for key, weight in _weights.items() if weight.storage.expired()]:
        del _weights[key]


def live_weights() -> list[Weight]:
    with _lock:
        _sweep()
        return list(_weights.values())


def largest_workspace(device: Device, max_m: int) -> int:
    return max((weight.workspace_bytes(max_m) for weight in live_weights() if weight.device is device), default=0)


def call_counts() -> list[CallCount]:
    """The counts of every weight that still exists."""
    return [weight.call_count() for weight in live_weights()]


def reset_call_counts() -> None:
    with count_lock:
        for weight in live_weights():
            weight.collect()
            weight.calls = weight.rows = 0


def explain(packed: torch.Tensor, m: int) -> str:
    """Which kernel `m` rows take, and why."""
    weight = find(packed)
    text = ctypes.create_string_buffer(512)
    check(LIBRARY.radiance_explain(weight.handle, m, text, len(text)), weight.name)
    return text.value.decode()


def _reopen_after_fork() -> None:
    # The child opens its devices again; handles of the parent's are left as they are.
    _lock._at_fork_reinit()
    count_lock._at_fork_reinit()
    for weight in _weights.values():
        weight.handle = 0


os.register_at_fork(after_in_child=_reopen_after_fork)
