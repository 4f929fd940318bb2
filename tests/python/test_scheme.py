"""Which scheme a module has."""

from __future__ import annotations

import pytest

from radiance_autoround.scheme import QuantizationSettings, UnsupportedCheckpoint, in_numbered_block

FUSED = {"qkv_proj": ["q_proj", "k_proj", "v_proj"], "gate_up_proj": ["gate_proj", "up_proj"]}


def settings(**fields) -> QuantizationSettings:
    return QuantizationSettings.from_config({
        "quant_method": "auto-round", "packing_format": "auto_round:auto_gptq", "bits": 4, "group_size": 128,
        "sym": True, "block_name_to_quantize": "model.layers", **fields})


def test_the_order_of_rules() -> None:
    some = settings(extra_config={
        "model.layers.0.mlp.up_proj": {"bits": 8}, r".*up_proj": {"bits": 16}, r".*\.1\..*up_proj": {"group_size": 64}})
    assert some.scheme_of("model.layers.0.mlp.up_proj").bits == 8  # exact
    assert some.scheme_of("layers.0.mlp.up_proj").bits == 8  # with and without model.
    assert some.scheme_of("model.layers.1.mlp.up_proj").group_size == 64  # the longest pattern
    assert not some.scheme_of("model.layers.2.mlp.up_proj").quantized
    assert some.scheme_of("model.layers.2.mlp.down_proj").rule == "the global scheme"


def test_a_key_without_a_regex_character_is_a_name() -> None:
    some = settings(extra_config={"model.layers.1": {"bits": 16}})
    assert some.scheme_of("model.layers.1.mlp.up_proj").quantized
    assert some.unmatched(["model.layers.1.mlp.up_proj"]) == ["model.layers.1"]


@pytest.mark.parametrize(("blocks", "name", "quantized"), [
    ("model.layers.1", "model.layers.1.mlp.up_proj", True), ("model.layers.1", "model.layers.10.mlp.up_proj", False),
    ("model.layers,mtp.layers", "mtp.layers.0.mlp.up_proj", True), (["model.layers", ["mtp.layers"]], "mtp.layers.0.x", True),
    ("model.layers", "mtp.layers.0.mlp.up_proj", False), (None, "mtp.layers.0.mlp.up_proj", False),
    (None, "model.layers.3.mlp.up_proj", True), (None, "visual.blocks.3.attn.qkv", False), (None, "lm_head", False),
    ("model.layers", "model.layers.0.lm_head", False)])
def test_blocks(blocks, name: str, quantized: bool) -> None:
    assert settings(block_name_to_quantize=blocks).scheme_of(name).quantized is quantized


def test_fused_modules_are_expanded_by_their_last_name_only() -> None:
    some = settings(extra_config={f"model.layers.0.self_attn.{name}": {"bits": 16} for name in FUSED["qkv_proj"]})
    assert not some.scheme_of("model.layers.0.self_attn.qkv_proj", FUSED).quantized
    assert some.scheme_of("model.layers.0.qkv_proj.other", FUSED).quantized
    some = settings(extra_config={"model.layers.0.self_attn.k_proj": {"group_size": 32}})
    with pytest.raises(UnsupportedCheckpoint, match=r"^model.layers.0.self_attn.qkv_proj: .*q_proj \(.*128.*k_proj \(.*32"):
        some.scheme_of("model.layers.0.self_attn.qkv_proj", FUSED)


def test_names_are_mapped_as_tensors_are() -> None:
    def rename(name: str) -> str | None:
        for old, new in (("model.language_model.", "language_model.model."), ("lm_head.", "language_model.lm_head.")):
            if name.startswith(old):
                return name.replace(old, new, 1)
        return name

    some = settings(block_name_to_quantize="model.language_model.layers",
                    extra_config={"lm_head": {"bits": 4}, "model.language_model.layers.0.x": {"bits": 16},
                                  r".*down_proj": {"bits": 16}}).renamed(rename)
    assert some.scheme_of("language_model.lm_head").quantized
    assert some.scheme_of("language_model.model.layers.1.x").quantized
    assert not some.scheme_of("language_model.model.layers.0.x").quantized
    assert not some.scheme_of("language_model.model.layers.1.mlp.down_proj").quantized


def test_zeros() -> None:
    assert settings().zero_word == 0x77777777
    assert settings(quant_method="gptq").zero_word == 0x77777777
    assert settings(quant_method="gptq", checkpoint_format="gptq_v2").zero_word == 0x88888888


def test_floats_in_extra_config() -> None:
    some = settings(extra_config={"model.layers.0.a": {"data_type": "fp"}, "model.layers.0.b": {"data_type": "fp", "bits": 4}})
    assert not some.scheme_of("model.layers.0.a").quantized
    assert some.scheme_of("model.layers.0.b").quantized


@pytest.mark.parametrize(("fields", "reason"), [
    ({"packing_format": "auto_round:auto_awq"}, "packing_format"), ({"data_type": "mx_fp"}, "data_type"),
    ({"bits": "4"}, "bits"), ({"bits": True}, "bits"), ({"bits": 0}, "bits"), ({"group_size": 0}, "group_size"),
    ({"extra_config": {"a": 1}}, "extra_config"), ({"quant_method": "awq"}, "quant_method"),
    ({"quant_method": "gptq", "dynamic": {"+:x": {}}}, "dynamic"), ({"rotation_config": {"a": 1}}, "rotation_config")])
def test_what_is_not_understood_is_refused(fields: dict, reason: str) -> None:
    with pytest.raises(UnsupportedCheckpoint, match=reason):
        settings(**fields)


def test_a_pattern_that_is_none() -> None:
    with pytest.raises(UnsupportedCheckpoint, match=r"'\*x' is no regular expression"):
        settings(extra_config={"*x": {"bits": 16}}).scheme_of("model.layers.0.x")


def test_numbered_blocks() -> None:
    assert in_numbered_block("transformer.h.0.attn") and in_numbered_block("layers.1.x")
    assert not in_numbered_block("model.norm") and not in_numbered_block("model.layers.x.y")
