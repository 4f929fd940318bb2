"""A checkpoint in transformers, its linear layers dequantized: what served models are compared with.

Activations "16bit" multiply the dequantized weights as they are, rounded to the model's dtype; "fp8" quantizes
the rows of every linear layer's input as the library does, and multiplies the exact weights in fp32; "radiance" is the
library itself, which also runs the checkpoints in MXFP4 that no plugin serves.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import safe_open
from transformers import AutoConfig, AutoModelForCausalLM

from radiance_autoround import reference
from radiance_autoround.scheme import QuantizationSettings

PACKED = ("qweight", "qzeros", "scales", "g_idx", "weight_packed", "weight_scale")


class Fp8ActivationLinear(torch.nn.Module):
    """A linear layer whose inputs are rounded to fp8, in plain torch."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None):
        super().__init__()
        self.register_buffer("exact_weight", weight, persistent=False)
        self.bias = bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return reference.linear(x, self.exact_weight, self.bias)


def tensors_of(folder: Path) -> dict[str, torch.Tensor]:
    tensors = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as opened:
            tensors.update({name: opened.get_tensor(name) for name in opened.keys()})
    return tensors


def dequantized_weights(tensors: dict[str, torch.Tensor], config: dict) -> dict[str, torch.Tensor]:
    """The weight of every packed module, exact in fp32."""
    weights = {}
    if config.get("quant_method") == "compressed-tensors":
        for name in tensors:
            module, _, part = name.rpartition(".")
            if part == "weight_packed":
                weights[module] = reference.dequantized_mxfp4(tensors[name], tensors[f"{module}.weight_scale"])
        return weights
    settings = QuantizationSettings.from_config(config)
    for name in tensors:
        module, _, part = name.rpartition(".")
        if part == "qweight":
            weights[module] = reference.dequantized(tensors[name], tensors[f"{module}.scales"],
                                                    settings.scheme_of(module).group_size)
    return weights


def load(folder: Path, activations: str = "16bit", dtype: torch.dtype = torch.bfloat16) -> torch.nn.Module:
    """The model, ready for inference. Every tensor of the folder is used, or an error names it."""
    config = AutoConfig.from_pretrained(folder)
    settings = getattr(config, "quantization_config", None)
    if settings is not None:
        del config.quantization_config
    model = AutoModelForCausalLM.from_config(config, dtype=dtype).eval()
    tensors = tensors_of(folder)
    weights = dequantized_weights(tensors, dict(settings)) if settings else {}
    state = {name: tensor for name, tensor in tensors.items() if name.rpartition(".")[2] not in PACKED}
    state.update({f"{module}.weight": weight for module, weight in weights.items()})
    known = set(model.state_dict())
    # Text-only classes read what a multimodal one wrote, and no transformers class has the MTP layers.
    state = {name if name in known else name.replace("model.language_model.", "model."): tensor
             for name, tensor in state.items() if not name.startswith("mtp.")}
    missing, unread = model.load_state_dict(state, strict=False)
    tied = {"lm_head.weight"} if config.tie_word_embeddings else set()
    if unread or set(missing) - tied:
        raise SystemExit(f"{folder}: missing {missing}, unread {unread}")
    model.tie_weights()
    if activations != "16bit":
        for module, weight in weights.items():
            name = module if module in dict(model.named_modules()) else module.replace("model.language_model.", "model.")
            parent, _, last = name.rpartition(".")
            bias = getattr(model.get_submodule(parent), last).bias
            made = (Fp8ActivationLinear(weight, bias) if activations == "fp8" else
                    packed_linear(tensors, module, dict(settings), bias))
            setattr(model.get_submodule(parent), last, made)
    return model


def packed_linear(tensors: dict[str, torch.Tensor], module: str, config: dict,
                  bias: torch.Tensor | None) -> torch.nn.Module:
    import radiance_autoround

    if config.get("quant_method") == "compressed-tensors":
        packed = radiance_autoround.pack_mxfp4(tensors[f"{module}.weight_packed"], tensors[f"{module}.weight_scale"],
                                               name=module)
    else:
        group = QuantizationSettings.from_config(config).scheme_of(module).group_size
        packed = radiance_autoround.pack(tensors[f"{module}.qweight"], tensors[f"{module}.scales"], group, name=module)
    return radiance_autoround.AutoRoundLinear.from_packed(packed, bias, module)
