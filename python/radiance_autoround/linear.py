"""AutoRoundLinear: a linear layer over a packed int4 weight, for models that torch runs itself."""

from __future__ import annotations

from collections.abc import Callable

import torch

from radiance_autoround._library import RadianceError
from radiance_autoround.packing import pack
from radiance_autoround.weights import find, register


class AutoRoundLinear(torch.nn.Module):
    """y = W4A8(x) + bias, with the weight of a checkpoint: qweight int32 [K / 8, N], scales fp16
    [ceil(K / group_size), N]. The packed weight is for one device; making the module is what chooses it."""

    def __init__(self, qweight: torch.Tensor, scales: torch.Tensor, group_size: int, bias: torch.Tensor | None = None, *,
                 device: torch.device | str | None = None, name: str | None = None):
        super().__init__()
        packed = pack(qweight, scales, group_size, device, name)
        self._adopt(packed, bias)

    @classmethod
    def from_packed(cls, packed: torch.Tensor, bias: torch.Tensor | None = None,
                    name: str | None = None) -> AutoRoundLinear:
        """Over what pack() or pack_mxfp4() returned."""
        register(packed, name)
        module = cls.__new__(cls)
        torch.nn.Module.__init__(module)
        module._adopt(packed, bias)
        return module

    def _adopt(self, packed: torch.Tensor, bias: torch.Tensor | None) -> None:
        weight = find(packed)
        self.out_features, self.in_features, self.layer_name = weight.n, weight.k, weight.name
        self.group_size, self.format = weight.group, weight.format
        self.register_buffer("packed", packed)
        if bias is not None and bias.shape != (weight.n,):
            raise RadianceError(f"{weight.name or 'AutoRoundLinear'}: bias is {list(bias.shape)}, it must be [{weight.n}]")
        self.register_buffer("bias", None if bias is None else bias.detach().to(packed.device))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.radiance.packed_linear(x, self.packed, self.out_features, self.bias)

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> AutoRoundLinear:
        # Packed bytes mean nothing on another device, and a copy of them would lie in small pages.
        packed = self.packed
        moved = fn(torch.empty(0, dtype=torch.uint8, device=packed.device)).device
        if moved != packed.device:
            raise RadianceError(f"{self.layer_name or 'AutoRoundLinear'}: the weight is packed for {packed.device} and cannot "
                                f"be moved to {moved}; load the model for that device")
        if self.bias is not None:
            self.bias = fn(self.bias)
        return self

    def extra_repr(self) -> str:
        return (f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}, "
                f"{self.format}, group={self.group_size}, device={self.packed.device}")
