"""The operators against fp64, and what torch expects of an operator."""

import pytest
import torch
from torch import library as torch_library

import radiance_autoround

packed_linear = torch.ops.radiance.packed_linear
autoround_linear = torch.ops.radiance.autoround_linear

# Short last groups (576 = 4.5 x 128), one group for all, narrow and odd N.
SHAPES = [(200, 512, 128), (64, 576, 128), (96, 640, 64), (33, 256, 32), (72, 384, -1), (1, 8, -1), (17, 1000, 128)]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("n,k,group", SHAPES)
def test_equals_the_reference(draw, device, n, k, group, dtype):
    for m in (1, 2, 5, 16, 17, 64, 130):
        problem = draw(n, k, group, m, dtype, bias=m % 2 == 0, device=device)
        problem.check(autoround_linear(problem.x, problem.qweight, problem.scales, group, problem.bias))
        packed = radiance_autoround.pack(problem.qweight, problem.scales, group)
        assert packed.device == problem.x.device
        problem.check(packed_linear(problem.x, packed, n, problem.bias))


def test_mxfp4_equals_the_reference(draw, device):
    from radiance_autoround import reference

    n, k, m = 80, 512, 9
    codes = torch.randint(0, 256, (n, k // 2), dtype=torch.uint8)
    scales = torch.randint(117, 127, (n, k // 32), dtype=torch.uint8)
    packed = radiance_autoround.pack_mxfp4(codes, scales, device)
    x = torch.randn(m, k, device=device, dtype=torch.bfloat16)
    y = packed_linear(x, packed, n)
    weight = reference.dequantized_mxfp4(codes, scales, torch.float64)
    expected = reference.linear(x.cpu().float(), weight).double()
    assert (y.cpu().double() - expected).norm() <= 5e-3 * expected.norm()


@pytest.mark.parametrize("leading", [(), (3,), (2, 3), (1, 1, 4), (2, 1, 3, 2)])
def test_leading_dimensions(draw, device, leading):
    m = torch.Size(leading).numel()
    problem = draw(48, 256, 64, m, device=device, leading=leading or ())
    x = problem.x if leading else problem.x.reshape(-1)
    problem.check(autoround_linear(x, problem.qweight, problem.scales, 64), x)


@pytest.mark.parametrize("shape", [(0, 256), (3, 0, 256), (0, 0, 256)])
def test_no_rows(draw, device, shape):
    problem = draw(48, 256, 64, device=device)
    y = autoround_linear(problem.x.new_empty(shape), problem.qweight, problem.scales, 64)
    assert y.shape == (*shape[:-1], 48)


def test_rows_apart_columns_apart_and_broadcast(draw, device):
    problem = draw(48, 256, 64, 6, device=device)
    wide = torch.full((6, 700), torch.nan, dtype=torch.bfloat16, device=device)
    wide[:, 100:356] = problem.x
    views = {"rows apart": wide[:, 100:356], "rows backwards": problem.x.flip(0),
             "transposed": problem.x.T.contiguous().T, "every second": wide.repeat_interleave(2, 1)[:, 200:712:2],
             "one row": problem.x[:1].expand(6, -1), "permuted": problem.x.reshape(2, 3, 256).transpose(0, 1)}
    for name, x in views.items():
        y = autoround_linear(x, problem.qweight, problem.scales, 64)
        assert y.is_contiguous(), name
        problem.check(y, x)


def test_the_bias_may_have_another_dtype_and_distance(draw, device):
    problem = draw(48, 256, 64, 3, bias=True, device=device)
    expected = autoround_linear(problem.x, problem.qweight, problem.scales, 64, problem.bias)
    apart = torch.stack((problem.bias, problem.bias), 1)[:, 0]
    for bias in (problem.bias.float(), apart):
        assert torch.equal(autoround_linear(problem.x, problem.qweight, problem.scales, 64, bias), expected)


def test_a_row_with_nan_or_infinity_is_nan_alone(draw, device):
    problem = draw(48, 256, 64, 5, device=device)
    good = autoround_linear(problem.x, problem.qweight, problem.scales, 64)
    x = problem.x.clone()
    x[1, 7], x[3, 0] = torch.nan, -torch.inf
    y = autoround_linear(x, problem.qweight, problem.scales, 64)
    assert y[[1, 3]].isnan().all()
    assert torch.equal(y[[0, 2, 4]], good[[0, 2, 4]])


@pytest.mark.parametrize("m", [1, 7])
def test_opcheck(draw, device, m):
    problem = draw(48, 256, 64, m, bias=True, device=device)
    packed = radiance_autoround.pack(problem.qweight, problem.scales, 64)
    for bias in (None, problem.bias):
        torch_library.opcheck(packed_linear.default, (problem.x, packed, 48, bias))
        torch_library.opcheck(autoround_linear.default, (problem.x, problem.qweight, problem.scales, 64, bias))


def test_under_inference_mode(draw, device):
    with torch.inference_mode():
        problem = draw(48, 256, 64, 3, device=device)
        problem.check(autoround_linear(problem.x, problem.qweight, problem.scales, 64))


def test_twice_the_same_bits(draw, device):
    problem = draw(520, 1024, 128, 33, device=device)
    first = autoround_linear(problem.x, problem.qweight, problem.scales, 128)
    for _ in range(5):
        assert torch.equal(autoround_linear(problem.x, problem.qweight, problem.scales, 128), first)
