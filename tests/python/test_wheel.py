"""What the wheel is: one file for every Python and every torch."""

import os
import subprocess
import zipfile
from pathlib import Path

import pytest


LIBRARIES = ["radiance_autoround/lib/libradiance.so.1", "radiance_autoround/lib/libradiance_torch.so"]


@pytest.fixture(scope="module")
def wheel():
    if not (named := os.environ.get("RADIANCE_WHEEL")):
        pytest.skip("RADIANCE_WHEEL names no wheel")
    return Path(named)


def test_tag(wheel):
    assert wheel.name.endswith("-py3-none-linux_x86_64.whl")
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/WHEEL"))
        text = archive.read(metadata).decode()
    assert "Tag: py3-none-linux_x86_64" in text and "Root-Is-Purelib: false" in text


def test_content(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        entry_points = archive.read(next(n for n in names if n.endswith("entry_points.txt"))).decode()
        metadata = archive.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode()
    outside = {name for name in names if not name.startswith(("radiance_autoround/", "radiance_autoround-"))}
    assert not outside
    assert sorted(name for name in names if ".so" in name) == LIBRARIES
    assert {"radiance_autoround/op.py", "radiance_autoround/loader.py", "radiance_autoround/vllm/__init__.py"} <= names
    assert "[vllm.general_plugins]" in entry_points
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert required == []


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_libraries_need_no_torch_no_driver_and_no_newer_runtime(wheel, tmp_path, name):
    with zipfile.ZipFile(wheel) as archive:
        library = archive.extract(name, tmp_path)
    dynamic = subprocess.run(["readelf", "-d", library], text=True, capture_output=True, check=True).stdout
    needed = {line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "(NEEDED)" in line}
    assert needed <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libradiance.so.1"}, needed
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], text=True, capture_output=True, check=True).stdout
    visible = {line.split()[-1].split("@")[0] for line in symbols.splitlines()}
    assert {name for name in visible if not name.startswith(("radiance_", "RADIANCE_"))} == set()


def test_the_installed_package_uses_its_own_library(wheel):
    from radiance_autoround._library import library_path

    path = Path(library_path())
    assert path.parent.name == "lib" and path.parent.parent.name == "radiance_autoround"
