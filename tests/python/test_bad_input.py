"""What cannot be computed is an exception whose first line names the layer and the reason."""

import subprocess
import sys

import pytest
import torch

import radiance_autoround
from radiance_autoround import RadianceError

packed_linear = torch.ops.radiance.packed_linear
autoround_linear = torch.ops.radiance.autoround_linear
NAME = "model.layers.7.mlp.down_proj"


@pytest.fixture
def layer(draw, device):
    problem = draw(48, 256, 64, 3, device=device)
    return problem, radiance_autoround.pack(problem.qweight, problem.scales, 64, name=NAME)


def refused(reason, call):
    with pytest.raises(RuntimeError) as caught:
        call()
    first = str(caught.value).splitlines()[0]
    assert reason in first, first
    return first


def test_activations(layer):
    problem, packed = layer
    wrong = {"K = 256": problem.x[:, :248], "torch.float64": problem.x.double(), "torch.int32": problem.x.int(),
             "x is []": problem.x[0, 0]}
    for reason, x in wrong.items():
        assert NAME in refused(reason, lambda: packed_linear(x, packed, 48))


def test_n_and_bias(layer):
    problem, packed = layer
    assert NAME in refused("N = 48", lambda: packed_linear(problem.x, packed, 47))
    for bias in (problem.x.new_zeros(47), problem.x.new_zeros(1, 48)):
        assert NAME in refused("it must be [48]", lambda: packed_linear(problem.x, packed, 48, bias))
    assert NAME in refused("torch.int64", lambda: packed_linear(problem.x, packed, 48, torch.zeros(48, dtype=torch.int64)))


def test_memory_that_is_no_packed_weight(layer):
    problem, packed = layer
    refused("does not hold a packed weight", lambda: packed_linear(problem.x, torch.zeros_like(packed), 48))
    refused("bytes", lambda: packed_linear(problem.x, packed[:-64], 48))
    refused("uint8", lambda: packed_linear(problem.x, packed.view(torch.int32), 48))
    refused("no header", lambda: packed_linear(problem.x, packed[:16].clone(), 48))


def test_a_weight_of_another_version(layer):
    problem, packed = layer
    other = packed.clone()
    other[24] += 1  # the layout's version
    refused("layout version", lambda: packed_linear(problem.x, other, 48))


def test_a_weight_that_is_not_aligned(draw):
    problem = draw(48, 256, 64, 3)
    packed = radiance_autoround.pack(problem.qweight, problem.scales, 64)
    room = torch.empty(packed.numel() + 64, dtype=torch.uint8)
    at = (-room.data_ptr()) % 64 + 8
    moved = room[at:at + packed.numel()]
    moved.copy_(packed)
    refused("not aligned to 64 bytes", lambda: packed_linear(problem.x, moved, 48))


def test_checkpoint_tensors(draw, device):
    problem = draw(48, 576, 128, 3, device=device)
    x, qweight, scales = problem.x, problem.qweight, problem.scales

    def call(qweight=qweight, scales=scales, group=128):
        return lambda: autoround_linear(x, qweight, scales, group)

    refused("must be float16 [5, 48]", call(scales=scales[:4]))  # the short last group
    refused("must be float16 [5, 48]", call(scales=scales.bfloat16()))
    refused("must be float16 [9, 48]", call(group=64))
    refused("multiples of 8 and -1", call(group=12))
    refused("multiples of 8 and -1", call(group=0))
    refused("int32 [K / 8, N]", call(qweight=qweight.long()))
    refused("int32 [K / 8, N]", call(qweight=qweight[0]))
    refused("K = 568", call(qweight=qweight[:-1]))
    broken = scales.clone()
    broken[2, 5] = torch.inf
    with pytest.raises(RadianceError, match="finite"):
        radiance_autoround.pack(qweight, broken, 128)


def test_mxfp4_tensors():
    codes, scales = torch.zeros(16, 64, dtype=torch.uint8), torch.full((16, 4), 127, dtype=torch.uint8)
    refused("must be [16, 4]", lambda: radiance_autoround.pack_mxfp4(codes, scales[:, :3]))
    refused("uint8", lambda: radiance_autoround.pack_mxfp4(codes.int(), scales))
    scales[3, 1] = 255
    refused("255", lambda: radiance_autoround.pack_mxfp4(codes, scales))


def test_devices_that_are_not_here(draw):
    problem = draw(48, 256, 64)
    refused("torch device meta is not supported",
            lambda: radiance_autoround.pack(problem.qweight, problem.scales, 64, "meta"))
    if not torch.cuda.is_available():
        first = refused("torch device cuda:0", lambda: radiance_autoround.pack(problem.qweight, problem.scales, 64, "cuda"))
        assert "no GPU" in first
        refused("torch device cuda:3", lambda: radiance_autoround.reserve(64, "cuda:3"))


def test_a_module_does_not_move_to_another_kind_of_device(draw):
    problem = draw(48, 256, 64)
    module = radiance_autoround.AutoRoundLinear(problem.qweight, problem.scales, 64, name=NAME)
    assert NAME in refused("cannot be moved to meta", lambda: module.to("meta"))
    module.to(torch.float16).half().cpu()
    problem.check(module(problem.x))


def test_settings():
    for call in (lambda: radiance_autoround.reserve(0), lambda: radiance_autoround.reserve(4, streams=0),
                 lambda: radiance_autoround.set_cpu_threads(0)):
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize("library,reason", [("/nowhere/libradiance.so.1", "cannot be loaded from /nowhere"),
                                            (None, "ABI version")])
def test_another_library(tmp_path, library, reason):
    if library is None:
        source = tmp_path / "old.c"
        source.write_text("unsigned radiance_abi_version(void) { return 7; }\n")
        library = tmp_path / "libradiance.so.1"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    import os

    environment = {**os.environ, "RADIANCE_LIBRARY": str(library)}
    result = subprocess.run([sys.executable, "-c", "import radiance_autoround"], env=environment, text=True,
                            capture_output=True)
    assert result.returncode != 0
    assert reason in result.stderr.splitlines()[-1]
