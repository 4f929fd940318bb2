"""packed_linear's way on the CPU without Python (python/operator/cpu_operator.cpp), where this torch has the stable C
interface that it needs.

It computes the plain case alone: a weight that pack() made and that is known, rows with one distance between them. Every
other call comes back to the kernel in Python, as does every error; torch raises that one as RuntimeError with the same
sentence.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from ctypes import POINTER, byref, c_bool, c_char, c_int64, c_size_t, c_uint64, c_void_p

import torch

from radiance_autoround._library import library_path

Fallback = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_int64, c_void_p, POINTER(c_char), c_size_t)

_tensors = getattr(torch._C, "_aoti", None)
_library: ctypes.CDLL | None = None
_fallback: object = None  # ctypes does not keep it
_owned: set[int] = set()  # places of packed weights that disown() is called for before they are freed


def start(kernel: Callable[[torch.Tensor, torch.Tensor, int, torch.Tensor | None], torch.Tensor]) -> bool:
    """Registers the operator for CPU tensors, with `kernel` for what is not plain. False: this torch is too old."""
    global _library, _fallback
    path = library_path().with_name("libradiance_torch.so")
    if not path.exists() or not hasattr(_tensors, "alloc_tensor_by_stealing_from_void_ptr"):
        return False
    library = ctypes.CDLL(str(path))
    library.radiance_torch_start.restype, library.radiance_torch_start.argtypes = c_bool, [Fallback]
    for name, arguments in (("add", [c_void_p, c_size_t, c_void_p, c_void_p, c_int64, c_int64]),
                            ("drop", [c_void_p, c_void_p]), ("after_fork", []),
                            ("take_counts", [c_void_p, POINTER(c_uint64), POINTER(c_uint64)])):
        function = getattr(library, f"radiance_torch_{name}")
        function.restype, function.argtypes = None, arguments

    def answer(x: int, packed: int, n: int, bias: int | None, sentence: ctypes.Array, size: int) -> int | None:
        taken = [None if pointer is None else _tensors.alloc_tensor_by_stealing_from_void_ptr(capsule(pointer))
                 for pointer in (x, packed, bias)]
        try:
            return pointer_of(_tensors.unsafe_alloc_void_ptr_from_tensor(kernel(taken[0], taken[1], n, taken[2])))
        except BaseException as error:  # none may pass through C
            text = (str(error) or repr(error)).encode()[:size - 1] + b"\0"
            ctypes.memmove(sentence, text, len(text))
            return None

    fallback = Fallback(answer)
    if not library.radiance_torch_start(fallback):
        return False
    _library, _fallback = library, fallback
    os.register_at_fork(after_in_child=library.radiance_torch_after_fork)
    return True


# torch hands pointers out in capsules without a name.
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [c_void_p, ctypes.c_char_p, c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]


def capsule(pointer: int) -> object:
    return _new_capsule(pointer, None, None)


def pointer_of(made: object) -> int:
    return _capsule_pointer(made, None)


def own(packed: int) -> None:
    """Memory of a packed weight that cannot become another's before disown()."""
    _owned.add(packed)


def disown(packed: int) -> None:
    _owned.discard(packed)
    drop(packed)


def add(packed: int, size: int, device: int, linear: int, n: int, k: int) -> None:
    """Makes a weight known, if its memory is owned."""
    if _library is not None and packed in _owned:
        _library.radiance_torch_add(packed, size, device, linear, n, k)


def drop(packed: int, linear: int | None = None) -> None:
    """Forgets the weight at this place, if it is this one."""
    if _library is not None:
        _library.radiance_torch_drop(packed, linear)


def take_counts(packed: int) -> tuple[int, int]:
    """Calls and rows since they were last taken."""
    calls, rows = c_uint64(), c_uint64()
    if _library is not None:
        _library.radiance_torch_take_counts(packed, byref(calls), byref(rows))
    return calls.value, rows.value
