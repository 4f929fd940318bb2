"""Which checkpoints the plugin takes, and which method each layer gets."""

from __future__ import annotations

import copy
import json

import pytest

pytest.importorskip("vllm")

from vllm.model_executor.layers.linear import ReplicatedLinear, UnquantizedLinearMethod
from vllm.model_executor.layers.quantization import QUANTIZATION_METHODS, get_quantization_config
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead, VocabParallelEmbedding
from vllm.model_executor.models.qwen3_5 import Qwen3_5ForCausalLM, Qwen3_5ForConditionalGeneration

from layers import auto_round
from radiance_autoround.scheme import UnsupportedCheckpoint
from radiance_autoround.vllm import register
from radiance_autoround.vllm.config import METHOD, RadianceConfig
from radiance_autoround.vllm.linear_method import RadianceLinearMethod

LINEAR_LAYERS = [layer for layer in range(64) if (layer + 1) % 4]  # of the 27B: 48, every fourth is full attention


def target_config() -> dict:
    """The quantization_config of a Qwen3.5 27B export: in_proj_a and in_proj_b have N = 48, which is no multiple of
    32, and stay at 16 bits."""
    sixteen = {"bits": 16, "data_type": "fp"}
    extra = {f"model.language_model.layers.{layer}.linear_attn.{name}": dict(sixteen)
             for layer in LINEAR_LAYERS for name in ("in_proj_a", "in_proj_b")}
    return auto_round(block_name_to_quantize="model.language_model.layers", extra_config=extra)


def qwen(model_class: type = Qwen3_5ForConditionalGeneration, **fields) -> RadianceConfig:
    """The configuration as vLLM leaves it before the first layer is made."""
    config = RadianceConfig.from_config({**target_config(), **fields})
    config.apply_vllm_mapper(model_class.hf_to_vllm_mapper.get_rename_mapper())
    config.packed_modules_mapping = model_class.packed_modules_mapping
    return config


def method(config: RadianceConfig, name: str, vllm_config) -> str:
    """The method of a layer of that name: 'int4' or '16-bit'."""
    layer = ReplicatedLinear(128, 128, bias=False, quant_config=config, prefix=name)
    assert isinstance(layer.quant_method, (RadianceLinearMethod, UnquantizedLinearMethod))
    return "int4" if isinstance(layer.quant_method, RadianceLinearMethod) else "16-bit"


def test_registering_twice_is_registering_once() -> None:
    register()
    register()
    assert QUANTIZATION_METHODS.count(METHOD) == 1
    assert get_quantization_config(METHOD) is RadianceConfig


def test_entry_point_is_declared() -> None:
    from importlib.metadata import entry_points

    found = [point for point in entry_points(group="vllm.general_plugins") if point.name == "radiance"]
    assert len(found) == 1
    assert found[0].load() is register


def test_the_target_config_is_parsed() -> None:
    raw = target_config()
    before = copy.deepcopy(raw)
    config = RadianceConfig.from_config(raw)
    assert raw == before
    # 48 layers of two. The checkpoint that the project began with counted 99: auto-round writes the patterns of its
    # ignore_layers beside the modules that they matched (docs/serving.md).
    assert repr(config) == "RadianceConfig(group_size=128, sym=True, unquantized_modules=96)"
    raw["extra_config"].update({name: {"bits": 16, "data_type": "float"}
                                for name in (".*in_proj_a.*", ".*in_proj_b.*", r".*mtp\.fc.*")})
    assert RadianceConfig.from_config(raw).unquantized_modules == 99
    raw["extra_config"]["model.language_model.layers.0.mlp.up_proj"] = {"group_size": 64}
    assert RadianceConfig.from_config(raw).unquantized_modules == 99


@pytest.mark.parametrize("config", [
    auto_round(), auto_round(packing_format="auto_round:gptq"), auto_round(group_size=-1),
    {"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True, "desc_act": False},
    {"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": True, "checkpoint_format": "gptq_v2"},
])
@pytest.mark.parametrize("asked", [None, METHOD, "auto-round", "gptq"])
def test_ours_are_taken(config: dict, asked: str | None) -> None:
    assert RadianceConfig.override_quantization_method(config, asked, None) == METHOD


@pytest.mark.parametrize("config", [
    auto_round(packing_format="auto_round:auto_awq"), auto_round(packing_format="auto_round:llm_compressor"),
    auto_round(bits=8), auto_round(bits=2), auto_round(sym=False), auto_round(data_type="mx_fp"), auto_round(bits="4"),
    auto_round(bits=None), auto_round(group_size="128"), auto_round(group_size=0), auto_round(extra_config=[1]),
    auto_round(block_name_to_quantize=7), {"quant_method": "awq", "bits": 4}, {"quant_method": "fp8"}, {},
    {"quant_method": ["gptq"]}, {"quant_method": "gptq", "bits": 4, "dynamic": {"-:mtp": {}}},
    {"quant_method": "gptq", "bits": 4, "checkpoint_format": "marlin"},
])
def test_others_are_left_and_nothing_raises(config: dict) -> None:
    assert RadianceConfig.override_quantization_method(config, None, None) is None


def test_a_user_who_names_another_method_gets_it() -> None:
    assert RadianceConfig.override_quantization_method(auto_round(), "inc", None) is None


def test_vllm_chooses_ours(models) -> None:
    from vllm.config import ModelConfig

    register()
    for folder in ("smollm2-g128", "smollm2-g64"):
        assert ModelConfig(model=str(models / folder)).quantization == METHOD
    assert ModelConfig(model=str(models / "smollm2-bf16")).quantization is None


@pytest.mark.parametrize(("model_class", "root"), [(Qwen3_5ForConditionalGeneration, "language_model.model."),
                                                   (Qwen3_5ForCausalLM, "model.")])
def test_layers_of_the_target_model_are_routed(model_class: type, root: str, vllm_config) -> None:
    config = qwen(model_class)
    for name in ("linear_attn.in_proj_qkvz", "linear_attn.out_proj", "mlp.gate_up_proj", "mlp.down_proj"):
        assert method(config, f"{root}layers.0.{name}", vllm_config) == "int4"
    for name in ("self_attn.qkv_proj", "self_attn.o_proj"):
        assert method(config, f"{root}layers.3.{name}", vllm_config) == "int4"
    for layer in LINEAR_LAYERS:
        assert method(config, f"{root}layers.{layer}.linear_attn.in_proj_ba", vllm_config) == "16-bit"
    for name in ("mtp.fc", "mtp.layers.0.mlp.down_proj", "visual.blocks.0.attn.proj"):
        assert method(config, name, vllm_config) == "16-bit"
    assert len(config.unquantized) == 48 + 3


def test_every_member_of_a_list_of_blocks_counts(vllm_config) -> None:
    config = qwen(block_name_to_quantize=["model.language_model.layers", "mtp.layers"])
    assert method(config, "mtp.layers.0.mlp.down_proj", vllm_config) == "int4"
    assert method(config, "mtp.fc", vllm_config) == "16-bit"
    assert method(config, "language_model.model.layers.7.mlp.down_proj", vllm_config) == "int4"


def test_a_block_ends_at_a_boundary_of_names(vllm_config) -> None:
    config = RadianceConfig.from_config(auto_round(block_name_to_quantize="model.layers.1"))
    assert method(config, "model.layers.1.mlp.down_proj", vllm_config) == "int4"
    assert method(config, "model.layers.10.mlp.down_proj", vllm_config) == "16-bit"


def test_patterns_and_exact_names(vllm_config) -> None:
    config = RadianceConfig.from_config(auto_round(extra_config={
        r".*\.mlp\..*": {"bits": 16}, r".*layers\.1\.mlp\.down_proj": {"bits": 4},
        "model.layers.2.mlp.down_proj": {"bits": 4}}))
    assert method(config, "model.layers.0.mlp.down_proj", vllm_config) == "16-bit"
    assert method(config, "model.layers.1.mlp.down_proj", vllm_config) == "int4"  # the longer pattern
    assert method(config, "model.layers.2.mlp.down_proj", vllm_config) == "int4"  # the exact name


def test_the_head_and_the_embedding_are_vllms_own(vllm_config) -> None:
    config = qwen()
    head = ParallelLMHead(128, 128, quant_config=config, prefix="language_model.lm_head")
    assert type(head.quant_method).__name__ == "UnquantizedEmbeddingMethod"
    assert config.get_quant_method(VocabParallelEmbedding(128, 128), "language_model.model.embed_tokens") is None


def test_a_head_that_is_listed_is_quantized_and_cannot_be_tied(vllm_config) -> None:
    # An exact "lm_head" is not below any prefix that the mapper knows as "lm_head.".
    config = qwen(extra_config={"lm_head": {"bits": 4}})
    head = ParallelLMHead(128, 128, quant_config=config, prefix="language_model.lm_head")
    assert isinstance(head.quant_method, RadianceLinearMethod)
    with pytest.raises(UnsupportedCheckpoint, match="^language_model.lm_head: tied"):
        head.tie_weights(VocabParallelEmbedding(128, 128))


def test_members_of_a_fused_layer_must_agree(vllm_config) -> None:
    config = qwen(extra_config={"model.language_model.layers.0.linear_attn.in_proj_z": {"bits": 16}})
    with pytest.raises(UnsupportedCheckpoint) as error:
        method(config, "language_model.model.layers.0.linear_attn.in_proj_qkvz", vllm_config)
    sentence = str(error.value).splitlines()[0]
    assert sentence.startswith("language_model.model.layers.0.linear_attn.in_proj_qkvz: ")
    assert "in_proj_z (16 bits)" in sentence and "in_proj_qkv (4 bits" in sentence


@pytest.mark.parametrize(("entry", "reason"), [
    ({"bits": 8}, "8-bit weights"), ({"sym": False}, "asymmetric"), ({"group_size": 12}, "group size 12")])
def test_a_layer_that_is_not_ours_is_refused_by_name(entry: dict, reason: str, vllm_config) -> None:
    config = RadianceConfig.from_config(auto_round(extra_config={"model.layers.3.mlp.down_proj": entry}))
    with pytest.raises(UnsupportedCheckpoint, match=f"^model.layers.3.mlp.down_proj: .*{reason}"):
        method(config, "model.layers.3.mlp.down_proj", vllm_config)


def test_experts_are_refused_by_name(vllm_config) -> None:
    from vllm.model_executor.layers.fused_moe import RoutedExperts

    experts = RoutedExperts.__new__(RoutedExperts)
    with pytest.raises(UnsupportedCheckpoint, match="^model.layers.0.mlp.experts: experts are not supported"):
        RadianceConfig.from_config(auto_round()).get_quant_method(experts, "model.layers.0.mlp.experts")


def test_layers_without_a_configuration(vllm_config) -> None:
    config = RadianceConfig()  # vLLM makes it so when a method has no file
    assert method(config, "model.layers.0.mlp.down_proj", vllm_config) == "16-bit"


def test_the_folder_is_judged_first(models, tmp_path, caplog) -> None:
    config = json.loads((models / "smollm2-g128" / "config.json").read_text())["quantization_config"]
    RadianceConfig.from_config(config).maybe_update_config(str(models / "smollm2-g128"))
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "gone.safetensors"}}))
    with pytest.raises(UnsupportedCheckpoint, match="^gone.safetensors, .* is missing"):
        RadianceConfig.from_config(config).maybe_update_config(str(tmp_path))


def test_an_order_of_inputs_that_cannot_be_seen() -> None:
    config = RadianceConfig.from_config({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": True})
    with pytest.raises(UnsupportedCheckpoint, match="^org/name: desc_act"):
        config.maybe_update_config("org/name")
    RadianceConfig.from_config({"quant_method": "gptq", "bits": 4, "group_size": 128}).maybe_update_config("org/name")
