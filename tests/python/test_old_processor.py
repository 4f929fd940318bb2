"""The library on a processor without AVX2, which QEMU emulates instruction by instruction: it runs portable code."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import ctypes, importlib.util, struct, sys
specification = importlib.util.spec_from_file_location("_library", sys.argv[1])
library = importlib.util.module_from_spec(specification)
specification.loader.exec_module(library)
L = library.LIBRARY
device = library.Handle("cpu", 2)
assert device.info().arch == b"portable", device.info().arch
try:
    library.Handle("cpu:avx2")
except library.RadianceError as error:
    assert "this processor has cpu:portable" in str(error), error
else:
    sys.exit("cpu:avx2 was opened")
n, k, group = 24, 64, 32
codes = (ctypes.c_uint32 * (k // 8 * n))(*[0x01234567 * (i + 1) & 0xffffffff for i in range(k // 8 * n)])
signs = [(-1) ** i * 2.0 ** (i % 5) for i in range(k // group * n)]
scales = ctypes.create_string_buffer(b"".join(struct.pack("<e", s) for s in signs))
desc = library.sized(library.WeightDesc, format=library.AUTOROUND_INT4, n=n, k=k, group=group,
                     codes=ctypes.addressof(codes), scales=ctypes.addressof(scales))
size = ctypes.c_size_t()
library.check(L.radiance_packed_bytes(device.pointer, ctypes.byref(desc), ctypes.byref(size)))
packed = device.allocate(size.value)
library.check(L.radiance_pack(device.pointer, ctypes.byref(desc), packed, size.value))
linear = ctypes.c_void_p()
library.check(L.radiance_linear_create(device.pointer, packed, size.value, ctypes.byref(linear)))
for m in (1, 3, 40):
    library.check(L.radiance_workspace_bytes(linear, m, ctypes.byref(size)))
    workspace = device.allocate(size.value)
    library.check(L.radiance_workspace_init(device.pointer, workspace, size.value, None))
    # 448 is in every row, so that the scale of a row is 1 and these values are exact.
    rows = [448.0 if j == 5 else float((i + j) % 7 - 3) for i in range(m) for j in range(k)]
    x, y = (ctypes.c_float * (m * k))(*rows), (ctypes.c_float * (m * n))()
    arguments = ctypes.create_string_buffer(library.FORWARD_ARGS.pack(
        library.FORWARD_ARGS.size, m, ctypes.addressof(x), library.F32, k, ctypes.addressof(y), library.F32, n, 0, 0,
        workspace, size.value, 0))
    library.check(L.radiance_forward(linear, ctypes.addressof(arguments)))
    for i in range(m):
        for j in range(n):
            exact = sum(rows[i * k + c] * ((codes[c // 8 * n + j] >> c % 8 * 4 & 15) - 8) * signs[c // group * n + j]
                        for c in range(k))
            assert y[i * n + j] == exact, (m, i, j, y[i * n + j], exact)
"""


def test_without_avx2():
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        pytest.skip("no qemu-x86_64 (Debian's qemu-user)")
    from radiance_autoround import _library

    result = subprocess.run(
        [emulator, "-cpu", "Nehalem", Path(sys.executable).resolve(), "-I", "-c", PROGRAM, _library.__file__],
        text=True, capture_output=True, timeout=300)
    assert result.returncode == 0, result.stderr
