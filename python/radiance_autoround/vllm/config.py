"""Which checkpoints and which of their layers are ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from vllm.logger import init_logger
from vllm.model_executor.layers.fused_moe import RoutedExperts
from vllm.model_executor.layers.linear import LinearBase
from vllm.model_executor.layers.quantization.base_config import QuantizationConfig, QuantizeMethodBase
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead

from radiance_autoround.checkpoint import CheckpointFolder, refuse_unsupported
from radiance_autoround.scheme import QuantizationSettings, UnsupportedCheckpoint

if TYPE_CHECKING:
    from vllm.model_executor.models.utils import WeightsMapper

METHOD = "radiance"
# Names under which a user may ask for these checkpoints; with any other, the user wants another method.
ASKED = (None, METHOD, "auto-round", "gptq", "auto_gptq")

logger = init_logger(f"vllm.{__name__}")  # vLLM configures the loggers below its own name


def is_ours(config: Mapping[str, Any]) -> bool:
    """Whether every quantized layer could be ours: int, 4 bits, symmetric, GPTQ's layout. Layers with
    settings of their own are looked at one by one when they are made, and refused by name."""
    try:
        settings = QuantizationSettings.from_config(config)
    except (UnsupportedCheckpoint, TypeError, ValueError, AttributeError):
        return False
    return settings.bits == 4 and settings.sym


class RadianceConfig(QuantizationConfig):
    """quantization_config of an auto_round:auto_gptq or GPTQ checkpoint, 4 bits, symmetric."""

    def __init__(self, config: Mapping[str, Any] | None = None):
        super().__init__()
        # vLLM makes an empty one when a method needs no configuration; nothing is quantized then.
        self.settings = QuantizationSettings.from_config(config) if config else None
        self.unquantized: set[str] = set()  # the 16-bit linear layers, as they were made
        self.biased: set[str] = set()  # packed modules of the folder whose bias is not zero

    def __repr__(self) -> str:
        if self.settings is None:
            return "RadianceConfig()"
        return (f"RadianceConfig(group_size={self.settings.group_size}, sym={self.settings.sym}, "
                f"unquantized_modules={self.unquantized_modules})")

    @property
    def unquantized_modules(self) -> int:
        """The entries of extra_config that keep a module at 16 bits."""
        return sum(not self.settings.scheme_of(key).quantized for key in self.settings.extra_config or ())

    def get_name(self) -> str:
        return METHOD

    def get_supported_act_dtypes(self) -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]

    @classmethod
    def get_min_capability(cls) -> int:
        return -1  # the library itself says what it runs on

    @staticmethod
    def get_config_filenames() -> list[str]:
        return ["quantization_config.json", "quantize_config.json"]

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> RadianceConfig:
        return cls(config)

    @classmethod
    def override_quantization_method(cls, hf_quant_cfg: dict[str, Any], user_quant: str | None,
                                     hf_config: Any = None) -> str | None:
        return METHOD if user_quant in ASKED and is_ours(hf_quant_cfg) else None

    def maybe_update_config(self, model_name: str, hf_config: Any = None, revision: str | None = None) -> None:
        """Judges the folder before anything is loaded. A name on a hub is judged layer by layer, as its
        weights arrive."""
        if self.settings is None:
            return
        if not Path(model_name).is_dir():
            if self.settings.desc_act:  # vLLM drops g_idx before a layer could see it
                raise UnsupportedCheckpoint(
                    f"{model_name}: desc_act may permute the inputs, which is seen in a folder only; download it first")
            return
        folder = CheckpointFolder(model_name)
        modules = folder.quantized_modules(self.settings)
        self.biased = {module.name for module in modules
                       if (bias := f"{module.name}.bias") in folder.tensors and folder.read(bias).any()}
        for key in folder.unmatched(self.settings):
            logger.warning("extra_config: %r names no module of %s", key, model_name)
        logger.info("radiance: %d packed modules in %s", len(modules), model_name)

    def apply_vllm_mapper(self, hf_to_vllm_mapper: WeightsMapper) -> None:
        if self.settings is not None:
            self.settings = self.settings.renamed(hf_to_vllm_mapper.map_name)
        self.biased = {hf_to_vllm_mapper.map_name(f"{name}.").rstrip(".") for name in self.biased}

    def biased_members(self, prefix: str) -> list[str]:
        """The modules of the checkpoint in a layer, of those that have a bias."""
        parent, _, last = prefix.rpartition(".")
        members = self.packed_modules_mapping.get(last, [last])
        return [name for member in members if (name := f"{parent}.{member}") in self.biased]

    def get_quant_method(self, layer: torch.nn.Module, prefix: str) -> QuantizeMethodBase | None:
        from radiance_autoround.vllm.linear_method import RadianceLinearMethod, TrackedUnquantizedLinearMethod

        is_head = isinstance(layer, ParallelLMHead)
        if isinstance(layer, RoutedExperts):
            if self.settings is not None and self.settings.scheme_of(prefix).quantized:
                raise UnsupportedCheckpoint(f"{prefix}: experts are not supported")
            return None
        if not isinstance(layer, LinearBase) and not is_head:
            return None
        if self.settings is None:
            return None if is_head else TrackedUnquantizedLinearMethod(prefix)
        scheme = self.settings.scheme_of(prefix, self.packed_modules_mapping)
        if not scheme.quantized:
            self.unquantized.add(prefix)
            return None if is_head else TrackedUnquantizedLinearMethod(prefix)
        refuse_unsupported(prefix, scheme)
        return RadianceLinearMethod(self.settings, scheme, prefix, self.biased_members(prefix))
