"""The packed form of weights that autoround_linear is given as a checkpoint holds them.

Keyed by the storages of qweight and scales, which weak references pin (see weights.py), and by their version
counters: torch raises them at every change in place that it sees. It does not see one through .data, after which
radiance_autoround.forget(qweight) must be called.
"""

from __future__ import annotations

import threading

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from radiance_autoround._library import RadianceError
from radiance_autoround.packing import checked_weight, pack

_lock = threading.Lock()
_packed: dict[tuple, Entry] = {}


class Entry:
    __slots__ = ("packed", "versions", "storages")

    def __init__(self, packed: torch.Tensor, versions: tuple[int, int], storages: tuple[StorageWeakRef, ...]):
        self.packed, self.versions, self.storages = packed, versions, storages

    def expired(self) -> bool:
        return any(storage.expired() for storage in self.storages)


def version(tensor: torch.Tensor) -> int:
    # Tensors made under inference_mode have no counter; nothing would tell that they changed.
    return -1 if tensor.is_inference() else tensor._version


def place(tensor: torch.Tensor) -> tuple:
    return tensor.untyped_storage()._cdata, tensor.data_ptr(), tensor.shape, tensor.stride()


def packed_of(qweight: torch.Tensor, scales: torch.Tensor, group_size: int, device: torch.device) -> torch.Tensor:
    key = (*place(qweight), *place(scales), group_size, device)
    versions = (version(qweight), version(scales))
    entry = _packed.get(key)
    if entry is None or entry.versions != versions:
        entry = _pack(key, qweight, scales, group_size, device, versions)
    return entry.packed


def _pack(key: tuple, qweight: torch.Tensor, scales: torch.Tensor, group_size: int, device: torch.device,
          versions: tuple[int, int]) -> Entry:
    checked_weight("autoround_linear", qweight, scales, group_size)
    if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        raise RadianceError("autoround_linear: a weight cannot be packed while a graph is captured; call the operator once "
                            "before, or use pack() and packed_linear")
    with _lock:
        for known in [known for known, entry in _packed.items() if entry.expired()]:
            del _packed[known]
        packed = pack(qweight, scales, group_size, device)
        storages = StorageWeakRef(qweight.untyped_storage()), StorageWeakRef(scales.untyped_storage())
        entry = _packed[key] = Entry(packed, versions, storages)
        return entry


def drop(qweight: torch.Tensor) -> None:
    """Forgets the packed forms of this tensor's storage."""
    storage = qweight.untyped_storage()._cdata
    with _lock:
        for known in [known for known in _packed if known[0] == storage]:
            del _packed[known]
