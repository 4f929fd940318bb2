"""One quantized layer of vLLM: what is made, what is loaded, what is refused, and what it computes."""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("vllm")

from vllm.model_executor.layers.linear import (ColumnParallelLinear, MergedColumnParallelLinear, QKVParallelLinear,
                                               ReplicatedLinear, RowParallelLinear)

from layers import BF16, auto_round, fill, finish, weight
from radiance_autoround import reference
from radiance_autoround.scheme import UnsupportedCheckpoint
from radiance_autoround.vllm.config import RadianceConfig

NAME = "model.layers.0.mlp.down_proj"


def config(**fields) -> RadianceConfig:
    return RadianceConfig.from_config(auto_round(**fields))


def replicated(n: int, k: int, quant: RadianceConfig | None = None, **options) -> ReplicatedLinear:
    return ReplicatedLinear(k, n, bias=options.pop("bias", False), params_dtype=BF16, quant_config=quant or config(),
                            prefix=options.pop("prefix", NAME), **options)


def relative(y: torch.Tensor, exact: torch.Tensor) -> float:
    return float((y.double() - exact.double()).norm() / exact.double().norm())


def exact_product(x: torch.Tensor, tensors: dict[str, torch.Tensor], group: int) -> torch.Tensor:
    xq, scale = reference.quantized_activations(x)
    weights = reference.dequantized(tensors["qweight"], tensors["scales"], group, torch.float64)
    return (xq.double() @ weights.T) * scale.double()


@pytest.mark.parametrize("group", [128, 64, 32, -1])
@pytest.mark.parametrize("rows", [1, 5, 64, 200])
def test_a_layer_computes_the_product(group: int, rows: int, vllm_config) -> None:
    layer = replicated(256, 576, config(group_size=group))  # 576 = 4 groups of 128 and a short one
    tensors = weight(256, 576, group)
    fill(layer, tensors)
    finish(layer)
    x = torch.randn(rows, 576, dtype=BF16, generator=torch.Generator().manual_seed(2))
    y, _ = layer(x)
    assert y.dtype == BF16 and relative(y, exact_product(x, tensors, group)) < 5e-3


def test_leading_dimensions_and_bias(vllm_config) -> None:
    layer = replicated(256, 512, bias=True)
    tensors = weight(256, 512)
    fill(layer, tensors)
    layer.bias.data.copy_(torch.randn(256))
    finish(layer)
    x = torch.randn(2, 3, 512, dtype=BF16)
    y, _ = layer(x)
    assert y.shape == (2, 3, 256)
    exact = exact_product(x, tensors, 128) + layer.bias.double()
    assert relative(y, exact) < 5e-3
    assert layer(x[:0])[0].shape == (0, 3, 256)


def test_scales_stay_fp16_in_a_bf16_model(vllm_config) -> None:
    layer = replicated(256, 512)
    assert layer.scales.dtype == torch.float16
    tensors = weight(256, 512)
    tensors["scales"] = torch.full_like(tensors["scales"], 1.0009765625)  # not in bf16
    fill(layer, tensors)
    assert torch.equal(layer.scales, tensors["scales"])
    finish(layer)
    x = torch.zeros(1, 512, dtype=torch.float16)
    x[0, 0] = 448
    first_code = reference.unpacked_codes(tensors["qweight"])[0] - 8
    assert torch.equal(layer(x)[0][0], (448 * 1.0009765625 * first_code.double()).half())


def test_the_tensors_are_packed_once_and_kept_as_a_parameter(vllm_config) -> None:
    layer = replicated(256, 512)
    assert {name for name, _ in layer.named_parameters()} == {"qweight", "scales", "qzeros"}
    fill(layer, weight(256, 512))
    finish(layer)
    assert {name for name, _ in layer.named_parameters()} == {"packed"}
    packed = layer.packed
    x = torch.randn(4, 512, dtype=BF16)
    before = layer(x)[0]
    finish(layer)  # vLLM may ask again
    assert layer.packed is packed and torch.equal(layer(x)[0], before)


def test_merged_and_qkv_layers_fill_their_parts(vllm_config) -> None:
    merged = MergedColumnParallelLinear(512, [256, 128], bias=False, params_dtype=BF16, quant_config=config(),
                                        prefix="model.layers.0.mlp.gate_up_proj")
    gate, up = weight(256, 512, seed=1), weight(128, 512, seed=2)
    fill(merged, gate, 0)
    fill(merged, up, 1)
    finish(merged)
    x = torch.randn(3, 512, dtype=BF16)
    exact = torch.cat([exact_product(x, gate, 128), exact_product(x, up, 128)], dim=-1)
    assert relative(merged(x)[0], exact) < 5e-3

    qkv = QKVParallelLinear(512, 64, 4, 2, bias=False, params_dtype=BF16, quant_config=config(),
                            prefix="model.layers.0.self_attn.qkv_proj")
    parts = {"q": weight(256, 512, seed=3), "k": weight(128, 512, seed=4), "v": weight(128, 512, seed=5)}
    for shard, tensors in parts.items():
        fill(qkv, tensors, shard)
    finish(qkv)
    exact = torch.cat([exact_product(x, tensors, 128) for tensors in parts.values()], dim=-1)
    assert relative(qkv(x)[0], exact) < 5e-3


def test_a_tensor_may_hold_several_partitions(vllm_config) -> None:
    layer = MergedColumnParallelLinear(512, [128, 128, 256, 256], bias=False, params_dtype=BF16, quant_config=config(),
                                       prefix="model.layers.0.linear_attn.in_proj_qkvz")
    qkv, z = weight(512, 512, seed=1), weight(256, 512, seed=2)
    fill(layer, qkv, (0, 1, 2))
    fill(layer, z, 3)
    finish(layer)
    x = torch.randn(3, 512, dtype=BF16)
    exact = torch.cat([exact_product(x, qkv, 128), exact_product(x, z, 128)], dim=-1)
    assert relative(layer(x)[0], exact) < 5e-3


# ---- refusals: the first line names the layer and the reason ----


@pytest.mark.parametrize(("word", "fields"), [
    (0x88888888, {}), (0x77777767, {}), (0, {}),
    (0x77777777, {"quant_method": "gptq", "checkpoint_format": "gptq_v2"})])
def test_zeros_that_are_not_symmetric(word: int, fields: dict, vllm_config) -> None:
    layer = replicated(256, 512, config(**fields))
    tensors = weight(256, 512)
    tensors["qzeros"][2, 5] = word - (1 << 32) if word >= 1 << 31 else word
    if not fields:
        assert tensors["qzeros"][0, 0] == 0x77777777
        where = r"qzeros\[2\]\[5\]"
    else:
        where = r"qzeros\[0\]\[0\]"
    fill(layer, tensors)
    with pytest.raises(UnsupportedCheckpoint, match=f"^{NAME}: asymmetric zeros, {where} is 0x{word:08x}"):
        finish(layer)


def test_the_second_gptq_format_stores_the_zero_itself(vllm_config) -> None:
    layer = replicated(256, 512, config(quant_method="gptq", checkpoint_format="gptq_v2"))
    tensors = weight(256, 512)
    tensors["qzeros"].fill_(0x88888888 - (1 << 32))
    fill(layer, tensors)
    finish(layer)
    x = torch.randn(3, 512, dtype=BF16)
    assert relative(layer(x)[0], exact_product(x, tensors, 128)) < 5e-3


@pytest.mark.parametrize("missing", ["qweight", "scales", "qzeros"])
def test_a_tensor_that_never_came(missing: str, vllm_config) -> None:
    layer = replicated(256, 512)
    tensors = weight(256, 512)
    del tensors[missing]
    fill(layer, tensors)
    with pytest.raises(UnsupportedCheckpoint, match=f"^{NAME}: {missing} is incomplete, nothing came"):
        finish(layer)


def test_a_member_of_a_fused_layer_that_never_came(vllm_config) -> None:
    name = "model.layers.0.self_attn.qkv_proj"
    layer = QKVParallelLinear(512, 64, 4, 2, bias=False, params_dtype=BF16, quant_config=config(), prefix=name)
    fill(layer, weight(256, 512), "q")
    fill(layer, weight(128, 512), "v")
    with pytest.raises(UnsupportedCheckpoint, match=f"^{name}: qweight is incomplete, only the parts .*q.*v.* of 3"):
        finish(layer)


def test_a_16_bit_layer_that_never_came(vllm_config) -> None:
    name = "model.layers.0.linear_attn.in_proj_ba"
    quant = config(extra_config={name: {"bits": 16}})
    layer = MergedColumnParallelLinear(512, [48, 48], bias=False, params_dtype=BF16, quant_config=quant, prefix=name)
    layer.weight.weight_loader(layer.weight, torch.zeros(48, 512, dtype=BF16), 1)
    with pytest.raises(UnsupportedCheckpoint, match=f"^{name}: weight is incomplete, only the parts .*1.* of 2"):
        finish(layer)
    layer.weight.weight_loader(layer.weight, torch.zeros(48, 512, dtype=BF16), 0)
    finish(layer)
    assert layer(torch.ones(1, 512, dtype=BF16))[0].shape == (1, 96)


def test_a_bias_that_the_model_does_not_have(tmp_path, vllm_config) -> None:
    """vLLM ignores biases that it does not expect: GPTQ's tools write zeros."""
    import json

    from safetensors.torch import save_file

    name = "model.layers.0.self_attn.k_proj"
    fields = auto_round()
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": fields}))
    tensors = {f"{name}.{part}": tensor for part, tensor in weight(128, 512).items()}
    for bias, refused in ((torch.zeros(128), False), (torch.ones(128), True)):
        save_file({**tensors, f"{name}.bias": bias}, tmp_path / "model.safetensors")
        quant = RadianceConfig.from_config(fields)
        quant.maybe_update_config(str(tmp_path))
        quant.packed_modules_mapping = {"qkv_proj": ["q_proj", "k_proj", "v_proj"]}
        layer = replicated(256, 512, quant, prefix="model.layers.0.self_attn.qkv_proj")
        fill(layer, weight(256, 512))
        if refused:
            with pytest.raises(UnsupportedCheckpoint, match=f"^model.layers.0.self_attn.qkv_proj: .* bias for {name}"):
                finish(layer)
        else:
            finish(layer)


@pytest.mark.parametrize(("n", "k", "reason"), [(252, 512, "a partition of 252 outputs"), (256, 516, "516 inputs")])
def test_sizes_that_do_not_fill_words(n: int, k: int, reason: str, vllm_config) -> None:
    with pytest.raises(UnsupportedCheckpoint, match=f"^{NAME}: {reason}"):
        replicated(n, k)


@pytest.mark.parametrize(("k", "group", "refused"), [(13696, 128, True), (17408, 128, False), (13696, 32, False),
                                                     (13696, -1, False)])
def test_a_shard_boundary_inside_a_group(k: int, group: int, refused: bool, vllm_config) -> None:
    layer = RowParallelLinear.__new__(RowParallelLinear)
    torch.nn.Module.__init__(layer)
    quant = config(group_size=group)
    method = quant.get_quant_method(layer, NAME)
    arguments = dict(input_size_per_partition=k // 2, output_partition_sizes=[64], input_size=k, output_size=64,
                     params_dtype=BF16, weight_loader=lambda *_: None)
    if refused:
        with pytest.raises(UnsupportedCheckpoint, match=f"^{NAME}: the boundary between shards at input 6848 of 13696"):
            method.create_weights(layer, **arguments)
    else:
        method.create_weights(layer, **arguments)
        assert layer.scales.shape[0] == (1 if group == -1 else -(-(k // 2) // group))


def test_vllm_uses_its_second_loader(vllm_config) -> None:
    layer = ColumnParallelLinear(512, 256, bias=False, params_dtype=BF16, quant_config=config(), prefix=NAME)
    fill(layer, weight(256, 512))
    finish(layer)
    from vllm.model_executor.layers.linear import WEIGHT_LOADER_V2_SUPPORTED

    assert {"RadianceLinearMethod", "TrackedUnquantizedLinearMethod"} <= set(WEIGHT_LOADER_V2_SUPPORTED)
