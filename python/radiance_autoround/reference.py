"""The product in plain torch, as the design defines it: what kernels are compared with, and far slower.

    y = s_m * sum_k xq[m][k] * weight[n][k] + bias,   weight = (code - 8) * scale[k // group]
"""

from __future__ import annotations

import torch

CODES_A_WORD = 8
ZERO = 8
E4M3_LARGEST = 448.0
# Rows smaller than this are zeros in effect; a smaller scale would make x / scale overflow.
SMALLEST_SCALE = 1 / (E4M3_LARGEST * 512)


def unpacked_codes(qweight: torch.Tensor) -> torch.Tensor:
    """int32 [K / 8, N], the lowest k in the lowest nibble, to int32 [K, N] of 0..15."""
    shifts = torch.arange(CODES_A_WORD, dtype=torch.int32, device=qweight.device) * 4
    return ((qweight[:, None, :] >> shifts[None, :, None]) & 15).reshape(-1, qweight.shape[1])


def dequantized(qweight: torch.Tensor, scales: torch.Tensor, group_size: int,
                dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The weight [N, K]; in fp32 or fp64 it is exact. The last group may be short."""
    codes = unpacked_codes(qweight)
    group = codes.shape[0] if group_size == -1 else group_size
    rows = torch.arange(codes.shape[0], device=codes.device) // group
    return ((codes - ZERO).to(dtype) * scales.to(dtype)[rows]).T.contiguous()


def dequantized_mxfp4(packed: torch.Tensor, scales: torch.Tensor,
                      dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """uint8 [N, K / 2], the lower nibble the lower k, and E8M0 bytes [N, K / 32] to the weight [N, K]."""
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=dtype, device=packed.device)
    codes = torch.stack((packed & 15, packed >> 4), dim=-1).reshape(packed.shape[0], -1).long()
    magnitude = values[codes & 7]
    exponents = (scales.to(torch.int32) - 127).repeat_interleave(32, dim=1)
    return torch.ldexp(torch.where(codes >= 8, -magnitude, magnitude), exponents)


def quantized_activations(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """e4m3 values as fp32 [..., K], and the scale of each row [..., 1]. A row with NaN or infinity is NaN."""
    x = x.float()
    largest = x.abs().amax(dim=-1, keepdim=True) if x.shape[-1] else x.new_zeros((*x.shape[:-1], 1))
    scale = (largest / E4M3_LARGEST).clamp(min=SMALLEST_SCALE)
    scale = torch.where(torch.isfinite(largest), scale, torch.full_like(scale, torch.nan))
    return (x / scale).to(torch.float8_e4m3fn).float(), scale


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """The W4A8 product of x with a dequantized weight [N, K], rounded to x's dtype at the end only."""
    xq, scale = quantized_activations(x)
    y = (xq.to(weight.dtype) @ weight.T) * scale.to(weight.dtype)
    return (y if bias is None else y + bias.to(weight.dtype)).to(x.dtype)
