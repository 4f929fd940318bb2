"""A quantized linear layer of vLLM: its parameters, their check after loading, and the call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from vllm.config import get_current_vllm_config_or_none
from vllm.logger import init_logger
from vllm.model_executor.layers.linear import (LinearMethodBase, UnquantizedLinearMethod,
                                               register_weight_loader_v2_supported_method)
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead
from vllm.model_executor.parameter import (ChannelQuantScaleParameter, GroupQuantScaleParameter,
                                           PackedColumnParameter, PackedvLLMParameter)

from radiance_autoround import explain, pack, reference, reserve
from radiance_autoround.checkpoint import CODES_A_WORD
from radiance_autoround.scheme import QuantizationSettings, Scheme, UnsupportedCheckpoint
from radiance_autoround.vllm.check import checked_shapes
from radiance_autoround.vllm.tracking import require_filled, tracked, watch
from radiance_autoround.weights import find

logger = init_logger(f"vllm.{__name__}")


@register_weight_loader_v2_supported_method
class TrackedUnquantizedLinearMethod(UnquantizedLinearMethod):
    """vLLM's method for a 16-bit layer of a quantized model, which also notices that nothing came."""

    def __init__(self, prefix: str):
        super().__init__()
        self.prefix = prefix

    def create_weights(self, layer: torch.nn.Module, input_size_per_partition: int,
                       output_partition_sizes: list[int], input_size: int, output_size: int,
                       params_dtype: torch.dtype, **extra_weight_attrs: Any) -> None:
        extra_weight_attrs["weight_loader"] = tracked(extra_weight_attrs["weight_loader"])
        super().create_weights(layer, input_size_per_partition, output_partition_sizes, input_size,
                               output_size, params_dtype, **extra_weight_attrs)
        self.partitions = len(output_partition_sizes)
        watch(layer.weight)

    def process_weights_after_loading(self, layer: torch.nn.Module) -> None:
        if (weight := getattr(layer, "weight", None)) is not None:
            require_filled(self.prefix, "weight", weight, self.partitions)
        super().process_weights_after_loading(layer)


@register_weight_loader_v2_supported_method
class RadianceLinearMethod(LinearMethodBase):
    """A symmetric 4-bit layer in GPTQ's layout, multiplied by the library as W4A8."""

    def __init__(self, settings: QuantizationSettings, scheme: Scheme, prefix: str, biased: Sequence[str] = ()):
        self.settings = settings
        self.scheme = scheme
        self.prefix = prefix
        self.biased = biased

    # ---- before loading ----

    def create_weights(self, layer: torch.nn.Module, input_size_per_partition: int,
                       output_partition_sizes: list[int], input_size: int, output_size: int,
                       params_dtype: torch.dtype, **extra_weight_attrs: Any) -> None:
        k, n = input_size_per_partition, sum(output_partition_sizes)
        group = input_size if self.scheme.group_size == -1 else self.scheme.group_size
        self._refuse_sizes(layer, k, output_partition_sizes, input_size, group)
        self.n, self.k, self.partitions = n, k, len(output_partition_sizes)
        # One group of the whole K: every rank of a row-parallel layer has all of its scales.
        replicated = self.scheme.group_size == -1 or group >= input_size
        self.group = k if replicated else group
        rows = -(-k // self.group)
        loader = tracked(extra_weight_attrs["weight_loader"])
        qweight = PackedvLLMParameter(
            data=torch.empty(k // CODES_A_WORD, n, dtype=torch.int32), input_dim=0, output_dim=1,
            packed_dim=0, packed_factor=CODES_A_WORD, weight_loader=loader)
        # fp16 whatever the model's dtype: bf16 has three bits less and would quantize the scale itself.
        scale_data = torch.empty(rows, n, dtype=torch.float16)
        zero_data = torch.empty(rows, n // CODES_A_WORD, dtype=torch.int32)
        if replicated:
            scales = ChannelQuantScaleParameter(data=scale_data, output_dim=1, weight_loader=loader)
            qzeros = PackedColumnParameter(data=zero_data, output_dim=1, packed_dim=1,
                                           packed_factor=CODES_A_WORD, weight_loader=loader)
        else:
            scales = GroupQuantScaleParameter(data=scale_data, input_dim=0, output_dim=1, weight_loader=loader)
            qzeros = PackedvLLMParameter(data=zero_data, input_dim=0, output_dim=1, packed_dim=1,
                                         packed_factor=CODES_A_WORD, weight_loader=loader)
        for name, param in (("qweight", qweight), ("scales", scales), ("qzeros", qzeros)):
            layer.register_parameter(name, param)
            watch(param)

    def _refuse_sizes(self, layer: torch.nn.Module, k: int, partitions: list[int], input_size: int,
                      group: int) -> None:
        if k % CODES_A_WORD:
            raise UnsupportedCheckpoint(f"{self.prefix}: {k} inputs, supported are multiples of 8")
        # vLLM's loader would take the floor and leave the last columns as they are.
        for size in partitions:
            if size % CODES_A_WORD:
                raise UnsupportedCheckpoint(
                    f"{self.prefix}: a partition of {size} outputs, supported are multiples of 8")
        if k != input_size and group < input_size and k % group:
            raise UnsupportedCheckpoint(
                f"{self.prefix}: the boundary between shards at input {k} of {input_size} lies inside a group "
                f"of {group}; use another tensor parallel size")
        if isinstance(layer, ParallelLMHead) and layer.num_embeddings_padded != layer.org_vocab_size:
            raise UnsupportedCheckpoint(
                f"{self.prefix}: a quantized lm_head of {layer.org_vocab_size} words, supported are "
                "multiples of 64")

    def tie_weights(self, layer: torch.nn.Module, embed_tokens: torch.nn.Module) -> torch.nn.Module:
        raise UnsupportedCheckpoint(f"{self.prefix}: tied to the embedding, and quantized: it cannot be both")

    # ---- after loading ----

    def process_weights_after_loading(self, layer: torch.nn.Module) -> None:
        if getattr(layer, "qweight", None) is None:
            return  # done before
        for name in ("qweight", "scales", "qzeros"):
            require_filled(self.prefix, name, getattr(layer, name), self.partitions)
        if self.biased and getattr(layer, "bias", None) is None:  # vLLM would drop it without a word
            raise UnsupportedCheckpoint(
                f"{self.prefix}: the checkpoint has a bias for {self.biased[0]}, the model's layer has none")
        self._require_symmetric(layer.qzeros)
        qweight, scales = layer.qweight.data, layer.scales.data
        packed = pack(qweight, scales, self.group, name=self.prefix)
        if (self.n, self.k) in checked_shapes():
            exact = reference.dequantized(qweight, scales, self.group)
            layer.register_parameter("exact_weight", torch.nn.Parameter(exact, requires_grad=False))
        # A parameter, so that sleeping and reloading keep it.
        layer.register_parameter("packed", torch.nn.Parameter(packed, requires_grad=False))
        for name in ("qweight", "scales", "qzeros"):
            delattr(layer, name)
        self._say_which_kernel(layer.packed)

    def _require_symmetric(self, qzeros: torch.Tensor) -> None:
        word = self.settings.zero_word
        expected = word - (1 << 32) if word >= 1 << 31 else word  # as int32
        wrong = (qzeros.data != expected).nonzero()
        if len(wrong):
            row, column = wrong[0].tolist()
            found = int(qzeros.data[row, column]) & 0xFFFFFFFF
            raise UnsupportedCheckpoint(
                f"{self.prefix}: asymmetric zeros, qzeros[{row}][{column}] is 0x{found:08x} where 0x{word:08x} means "
                "symmetric")

    def _say_which_kernel(self, packed: torch.Tensor) -> None:
        weight = find(packed)
        shape = (weight.n, weight.k, weight.group, str(weight.torch_device))
        if shape in _shapes_said:
            return
        _shapes_said.add(shape)
        logger.info("radiance: %d x %d in groups of %d on %s (%s): one row %s; 512 rows %s", weight.n, weight.k,
                    weight.group, weight.torch_device, weight.target, explain(packed, 1), explain(packed, 512))
        # Scratch for the largest batch, before anything is captured.
        config = get_current_vllm_config_or_none()
        if config is not None and config.scheduler_config is not None:
            reserve(config.scheduler_config.max_num_batched_tokens, packed.device)

    # ---- serving ----

    def apply(self, layer: torch.nn.Module, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        if hasattr(layer, "exact_weight"):
            return torch.ops.radiance.checked_linear(x, layer.packed, self.n, layer.exact_weight, bias, self.prefix)
        return torch.ops.radiance.packed_linear(x, layer.packed, self.n, bias)


_shapes_said: set[tuple[int, int, int, str]] = set()
