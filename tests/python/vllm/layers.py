"""Weights as checkpoints hold them, and layers of vLLM made and filled as its loader does."""

from __future__ import annotations

from typing import Any

import torch

BF16 = torch.bfloat16
SYMMETRIC = 0x77777777


def auto_round(**fields: Any) -> dict[str, Any]:
    return {"quant_method": "auto-round", "packing_format": "auto_round:auto_gptq", "bits": 4, "group_size": 128,
            "sym": True, "data_type": "int", "block_name_to_quantize": "model.layers", **fields}


def weight(n: int, k: int, group: int = 128, seed: int = 1) -> dict[str, torch.Tensor]:
    """qweight, scales and qzeros; about half of the scales are negative, as auto-round's are."""
    generator = torch.Generator().manual_seed(seed)
    rows = -(-k // (k if group == -1 else group))
    return {"qweight": torch.randint(-2**31, 2**31 - 1, (k // 8, n), dtype=torch.int32, generator=generator),
            "scales": (torch.randn(rows, n, generator=generator) * 0.01).half(),
            "qzeros": torch.full((rows, n // 8), SYMMETRIC, dtype=torch.int32)}


def fill(layer: torch.nn.Module, tensors: dict[str, torch.Tensor], shard: Any = None) -> None:
    """Loads a module's tensors as vLLM does: through each parameter's own loader."""
    for name, tensor in tensors.items():
        param = getattr(layer, name)
        param.weight_loader(param, tensor, *(() if shard is None else (shard,)))


def finish(layer: torch.nn.Module) -> torch.nn.Module:
    layer.quant_method.process_weights_after_loading(layer)
    return layer
