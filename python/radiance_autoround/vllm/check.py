"""RADIANCE_CHECK=N:K,...: while serving, layers of these shapes are also computed from their dequantized weights.

Two errors are logged of a call, relative and over all its rows: "kernel" against the exact product of the same
rounded activations (the library's own error; more than 5e-3 is a defect and logged as one), and "fp8" against the
product of the activations as they came (what the format costs). Slow, and the weights are held once more in fp32.
"""

from __future__ import annotations

import functools
import os
from collections import Counter

import torch
from torch import library as torch_library
from vllm.logger import init_logger

from radiance_autoround import reference

VARIABLE = "RADIANCE_CHECK"
LARGEST_ERROR = 5e-3  # the gate's, DESIGN section 3; expect 1.8e-3 in bf16

logger = init_logger(f"vllm.{__name__}")
_calls: Counter[str] = Counter()


@functools.cache
def checked_shapes() -> frozenset[tuple[int, int]]:
    """The shapes (N, K) that the environment names."""
    shapes = set()
    for part in filter(None, os.environ.get(VARIABLE, "").split(",")):
        n, separator, k = part.partition(":")
        if not (separator and n.strip().isdigit() and k.strip().isdigit()):
            raise ValueError(f"{VARIABLE} holds {part!r}; it lists shapes as N:K,N:K,...")
        shapes.add((int(n), int(k)))
    return frozenset(shapes)


def relative_error(y: torch.Tensor, exact: torch.Tensor) -> float:
    norm = exact.norm()
    return float((y.float() - exact).norm() / norm) if norm > 0 else float(y.float().norm())


def checked_linear(x: torch.Tensor, packed: torch.Tensor, n: int, weight: torch.Tensor, bias: torch.Tensor | None,
                   name: str) -> torch.Tensor:
    y = torch.ops.radiance.packed_linear(x, packed, n, bias)
    offset = 0 if bias is None else bias.float()
    activations, scale = reference.quantized_activations(x)
    kernel = relative_error(y, activations @ weight.T * scale + offset)
    _calls[name] += 1
    if not kernel <= LARGEST_ERROR:  # NaN too
        logger.error("%s: relative error %.1e of %s rows, more than the kernel's bound of %.1e", name, kernel,
                     x.numel() // max(1, x.shape[-1]), LARGEST_ERROR)
    elif _calls[name].bit_count() == 1:  # the first, the second, the fourth, ...
        logger.info("%s: call %d, %d rows: relative error kernel %.1e, fp8 %.1e", name, _calls[name],
                    x.numel() // max(1, x.shape[-1]), kernel, relative_error(y, x.float() @ weight.T + offset))
    return y


_library = torch_library.Library("radiance", "FRAGMENT")
# One operator, not a branch around packed_linear: the compiled graph would drop a comparison that returns nothing.
_library.define("checked_linear(Tensor x, Tensor packed, SymInt n, Tensor weight, Tensor? bias, str name) -> Tensor",
                tags=(torch.Tag.pt2_compliant_tag,))
for _key in ("CPU", "CUDA"):
    _library.impl("checked_linear", checked_linear, _key)
torch_library.register_fake("radiance::checked_linear",
                            lambda x, packed, n, weight, bias, name: x.new_empty((*x.shape[:-1], n)), lib=_library)
