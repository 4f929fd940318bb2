"""packed_linear's way without Python on the CPU, and the kernel in Python where torch has no interface for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import radiance_autoround
from radiance_autoround import _library, direct, op

packed_linear = torch.ops.radiance.packed_linear
needs_direct = pytest.mark.skipif(direct._library is None, reason="this torch has no stable C interface")


def test_this_torch_has_it():
    newest = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 10)
    assert newest <= (direct._library is not None)


@pytest.fixture
def no_python(monkeypatch):
    def refuse(*_):
        raise AssertionError("through Python")

    monkeypatch.setattr(op, "run", refuse)


@needs_direct
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_plain_calls_do_not_touch_python(draw, no_python, dtype):
    problem = draw(96, 256, 64, 6, dtype=dtype, bias=True, leading=(2, 3))
    packed = radiance_autoround.pack(problem.qweight, problem.scales, 64, name="plain")
    parameter = torch.nn.Parameter(packed, requires_grad=False)
    problem.check(packed_linear(problem.x, parameter, 96, problem.bias))
    rows = problem.x.reshape(6, 256)
    wide = torch.full((6, 300), 7.0, dtype=dtype)
    wide[:, :256] = rows
    problem.check(packed_linear(wide[:, :256], packed, 96, problem.bias), rows)
    count = next(count for count in radiance_autoround.call_counts() if count.name == "plain")
    assert (count.calls, count.rows) == (2, 12)
    radiance_autoround.reset_call_counts()
    assert next(count for count in radiance_autoround.call_counts() if count.name == "plain").calls == 0


@needs_direct
def test_other_calls_come_to_python(draw, no_python):
    problem = draw(96, 256, 64, 4)
    packed = radiance_autoround.pack(problem.qweight, problem.scales, 64)
    x = problem.x
    for arguments in [(x[:0], packed, 96), (x[:, ::2], packed, 96), (x.double(), packed, 96), (x, packed, 95),
                      (x, packed.clone(), 96), (x, packed, 96, torch.zeros(95)), (x, packed[:-64], 96)]:
        with pytest.raises(RuntimeError, match="through Python|bytes|packed weight has N = 96"):
            packed_linear(*arguments)


@needs_direct
def test_a_weight_that_was_freed_is_not_found_again(draw):
    first, second = draw(96, 256, 64, 4), draw(96, 256, 64, 4)
    places = set()
    for problem in (first, second) * 20:
        packed = radiance_autoround.pack(problem.qweight, problem.scales, 64)
        places.add(packed.data_ptr())
        problem.check(packed_linear(problem.x, packed, 96))
        del packed
    assert len(places) < 40  # or nothing was tested


def test_the_kernel_in_python(tmp_path):
    """The tests of the operator and of threads once more, beside a library without the direct way."""
    library = tmp_path / "libradiance.so.1"
    shutil.copy(_library.library_path(), library)
    here = Path(__file__).parent
    check = "from radiance_autoround import direct; assert direct._library is None"
    environment = {**os.environ, "RADIANCE_LIBRARY": str(library)}
    subprocess.run([sys.executable, "-c", check], env=environment, check=True)
    files = [here / name for name in ("test_op.py", "test_threads.py")]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not cuda", *files],
                          env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout[-3000:]
