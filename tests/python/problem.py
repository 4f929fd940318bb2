"""Random layers, their exact product, and the bound that the numerics contract sets for every element."""

import torch

from radiance_autoround import reference

UNIT = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float32: 2.0**-24}
HALF_SUBNORMAL = {torch.bfloat16: 2.0**-134, torch.float16: 2.0**-25, torch.float32: 2.0**-150}
# What the order of sums in fp32 may cost; Hopper's fp8 tensor cores keep few bits while they accumulate.
SUM_ERROR = {"cpu": 2.0**-19, "cuda": 2.0**-12}


def largest_weights(scales, group, k):
    """[N, K]: 8 times each weight's scale, in fp64."""
    row = torch.arange(k) // (k if group == -1 else group)
    return scales.cpu().double().abs()[row].T * 8


def element_bound(y, xq, scale, largest, dtype, device_type, bias=0.0):
    """DESIGN section 3: what each element of y may err, for fp64 xq and scale."""
    size = scale * (xq.abs() @ largest.T) + abs(bias)
    return UNIT[dtype] * y.abs() + HALF_SUBNORMAL[dtype] + SUM_ERROR[device_type] * size


class Problem:
    """y = x W^T + bias with values that differ in n, m and k: signed scales, subnormal ones among them, code 0."""

    def __init__(self, generator, n, k, group, m=1, dtype=torch.bfloat16, bias=False, device="cpu", leading=()):
        self.n, self.k, self.group, self.device = n, k, group, torch.device(device)
        rows = 1 if group == -1 else -(-k // group)
        words = torch.randint(-2**31, 2**31, (k // 8, n), generator=generator, dtype=torch.int64)
        self.qweight = words.to(torch.int32)
        scales = torch.randn(rows, n, generator=generator) * 0.01
        scales[:, 6::7] *= 2.0**-14  # fp16 subnormals
        self.scales = scales.half()
        assert n < 30 or (self.scales < 0).any()
        rows_of_x = torch.randn(m, 1, generator=generator).exp()
        x = (torch.randn(m, k, generator=generator) * rows_of_x).to(dtype)
        self.x = x.reshape(*(leading or (m,)), k)
        self.bias = torch.randn(n, generator=generator).to(dtype) if bias else None
        self.on_device()

    def on_device(self):
        for name in ("qweight", "scales", "x", "bias"):
            if getattr(self, name) is not None:
                setattr(self, name, getattr(self, name).to(self.device))

    def expected(self, x=None):
        """In fp64, from the same quantized activations; and the bound of each element."""
        x = (self.x if x is None else x).cpu()
        weight = reference.dequantized(self.qweight.cpu(), self.scales.cpu(), self.group, torch.float64)
        xq, scale = (part.double() for part in reference.quantized_activations(x))
        bias = torch.zeros(self.n, dtype=torch.float64) if self.bias is None else self.bias.cpu().double()
        y = xq @ weight.T * scale + bias
        largest = largest_weights(self.scales, self.group, self.k)
        return y, element_bound(y, xq, scale, largest, x.dtype, self.device.type, bias)

    def check(self, y, x=None):
        expected, bound = self.expected(x)
        x = self.x if x is None else x
        assert y.dtype == x.dtype and y.device == x.device
        assert y.shape == (*x.shape[:-1], self.n)
        if not y.numel():
            return
        y = y.cpu().double()
        assert torch.isfinite(y).all()
        over = (y - expected).abs() / bound
        assert over.max() <= 1, f"an element errs {over.max():.3f} times its bound"
        assert (y - expected).norm() <= 5e-3 * expected.norm()
