"""Counting which parts of a layer's parameters a checkpoint has filled.

vLLM's own check of missing tensors is off for quantized models, and exempts every layer with a method: a
server whose shard is missing starts with uninitialised weights. So the loaders are wrapped here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from radiance_autoround.scheme import UnsupportedCheckpoint

ATTRIBUTE = "radiance_filled"
WHOLE = "whole"


def tracked(loader: Callable[..., Any]) -> Callable[..., Any]:
    """The same weight loader, which also notes in the parameter which shard it filled."""

    def load(param: torch.nn.Parameter, loaded_weight: torch.Tensor, *shard: Any, **named: Any) -> Any:
        result = loader(param, loaded_weight, *shard, **named)
        filled: set[Any] = getattr(param, ATTRIBUTE)
        index = shard[0] if shard else next(iter(named.values()), None)
        # One tensor may hold several partitions: in_proj_qkv the first three of in_proj_qkvz.
        filled.update([WHOLE] if index is None else index if isinstance(index, (tuple, list)) else [index])
        return result

    return load


def watch(param: torch.nn.Parameter) -> None:
    """Begins to note what is loaded into the parameter, whose weight_loader is a tracked one."""
    setattr(param, ATTRIBUTE, set())


def require_filled(prefix: str, name: str, param: torch.nn.Parameter, partitions: int) -> None:
    """Raises UnsupportedCheckpoint unless every partition of the parameter was loaded."""
    filled = getattr(param, ATTRIBUTE, {WHOLE})
    if WHOLE in filled or len(filled) == partitions:
        return
    have = f"only the parts {sorted(map(str, filled))} of {partitions}" if filled else "nothing"
    raise UnsupportedCheckpoint(f"{prefix}: {name} is incomplete, {have} came from the checkpoint")
