"""libradiance's C interface (include/radiance/radiance.h) through ctypes: nothing of it depends on torch."""

from __future__ import annotations

import ctypes
import os
import struct
from ctypes import (POINTER, Structure, byref, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64,
                    c_void_p)
from pathlib import Path

ABI_VERSION = 1

BF16, F16, F32 = 1, 2, 3
AUTOROUND_INT4, MXFP4 = 1, 2


class RadianceError(RuntimeError):
    """What the library refused, in its own sentence; `status` is the name of its radiance_status."""

    def __init__(self, sentence: str, status: str = "invalid argument"):
        super().__init__(sentence)
        self.status = status


class DeviceOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("threads", c_int32)]


class DeviceInfo(Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char * 64), ("description", c_char * 128),
                ("arch", c_char * 32), ("units", c_int32), ("memory_bytes", c_uint64),
                ("last_cache_bytes", c_uint64)]


class WeightDesc(Structure):
    _fields_ = [("struct_size", c_size_t), ("format", c_int), ("n", c_int64), ("k", c_int64),
                ("group", c_int64), ("codes", c_void_p), ("scales", c_void_p)]


class LinearInfo(Structure):
    _fields_ = [("struct_size", c_size_t), ("format", c_int), ("n", c_int64), ("k", c_int64),
                ("group", c_int64), ("target", c_char * 16), ("layout_version", c_uint32),
                ("packed_bytes", c_size_t)]


# radiance_forward_args, packed in one call: setting the fields of a Structure takes twice the time.
# struct_size, m, x, x_dtype, ldx, y, y_dtype, ldy, bias, bias_dtype, workspace, workspace_bytes, stream
FORWARD_ARGS = struct.Struct("@NqPiqPiqPiPNP")

SIGNATURES = {
    "radiance_device_open": (c_char_p, POINTER(DeviceOptions), POINTER(c_void_p)),
    "radiance_device_get_info": (c_void_p, POINTER(DeviceInfo)),
    "radiance_device_alloc": (c_void_p, c_size_t, POINTER(c_void_p)),
    "radiance_device_free": (c_void_p, c_void_p),
    "radiance_packed_bytes": (c_void_p, POINTER(WeightDesc), POINTER(c_size_t)),
    "radiance_pack": (c_void_p, POINTER(WeightDesc), c_void_p, c_size_t),
    "radiance_linear_create": (c_void_p, c_void_p, c_size_t, POINTER(c_void_p)),
    "radiance_linear_get_info": (c_void_p, POINTER(LinearInfo)),
    "radiance_workspace_bytes": (c_void_p, c_int64, POINTER(c_size_t)),
    "radiance_workspace_init": (c_void_p, c_void_p, c_size_t, c_void_p),
    "radiance_forward": (c_void_p, c_void_p),
    "radiance_explain": (c_void_p, c_int64, c_char_p, c_size_t),
}


def library_path() -> Path:
    """The library of this wheel, or the one that RADIANCE_LIBRARY names: for work on the library itself."""
    if named := os.environ.get("RADIANCE_LIBRARY"):
        return Path(named)
    return Path(__file__).parent / "lib" / f"libradiance.so.{ABI_VERSION}"


def load() -> ctypes.CDLL:
    path = library_path()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise RadianceError(f"libradiance cannot be loaded from {path}: {error}", "no device") from error
    library.radiance_abi_version.restype = c_uint32
    if (found := library.radiance_abi_version()) != ABI_VERSION:
        raise RadianceError(f"{path} has ABI version {found}, this package needs {ABI_VERSION}", "version mismatch")
    library.radiance_last_error.restype = c_char_p
    library.radiance_status_name.restype = c_char_p
    library.radiance_status_name.argtypes = [c_int]
    for name, arguments in SIGNATURES.items():
        function = getattr(library, name)
        function.argtypes, function.restype = list(arguments), c_int
    for name in ("radiance_device_close", "radiance_linear_destroy"):
        function = getattr(library, name)
        function.argtypes, function.restype = [c_void_p], None
    return library


LIBRARY = load()


def error_of(status: int, where: str | None = None) -> RadianceError:
    """The calling thread's last failure; `where` (a layer's name) stands before the sentence."""
    sentence = LIBRARY.radiance_last_error().decode()
    return RadianceError(f"{where}: {sentence}" if where else sentence, LIBRARY.radiance_status_name(status).decode())


def check(status: int, where: str | None = None) -> None:
    if status:
        raise error_of(status, where)


def sized(struct: type[Structure], **fields: object) -> Structure:
    """A struct of radiance.h with its size set; what is not named is zero."""
    return struct(struct_size=ctypes.sizeof(struct), **fields)


class Handle:
    """A device of the library. It is never closed: weights and workspaces outlive what Python can see."""

    def __init__(self, name: str, threads: int = 0):
        self.name = name
        handle = c_void_p()
        check(LIBRARY.radiance_device_open(name.encode(), byref(sized(DeviceOptions, threads=threads)),
                                           byref(handle)))
        self.pointer = handle.value

    def info(self) -> DeviceInfo:
        info = sized(DeviceInfo)
        check(LIBRARY.radiance_device_get_info(self.pointer, byref(info)))
        return info

    def allocate(self, size: int) -> int:
        pointer = c_void_p()
        check(LIBRARY.radiance_device_alloc(self.pointer, size, byref(pointer)))
        return pointer.value

    def free(self, pointer: int) -> None:
        LIBRARY.radiance_device_free(self.pointer, pointer)
