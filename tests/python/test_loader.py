"""Models over checkpoint folders: the real layer of tests/data, and what stops the load."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import radiance_autoround
from radiance_autoround import AutoRoundLinear, reference
from radiance_autoround.loader import load_linears, load_model
from radiance_autoround.scheme import UnsupportedCheckpoint

transformers = pytest.importorskip("transformers")

DATA = Path(__file__).parents[1] / "data"
LAYER = "model.layers.0."
WORDS = 320


@pytest.fixture(params=[64, 128], ids=["group 64", "group 128"])
def folder(request, tmp_path):
    """The real layer with a small random vocabulary around it, in two files."""
    source = DATA / f"smollm2-135m-instruct-layer0-g{request.param}"
    config = json.loads((source / "config.json").read_text())
    config["vocab_size"] = WORDS
    (tmp_path / "config.json").write_text(json.dumps(config))
    shutil.copy(source / "model.safetensors", tmp_path / "layer.safetensors")
    rest = {"model.embed_tokens.weight": torch.randn(WORDS, 576).bfloat16(),
            "model.norm.weight": (torch.rand(576) + 0.5).bfloat16()}
    save_file(rest, tmp_path / "rest.safetensors")
    return tmp_path


def change(folder, **tensors):
    """Writes the layer again, with these tensors (None: without) in it."""
    file = folder / "layer.safetensors"
    held = load_file(file)
    for name, tensor in tensors.items():
        name = LAYER + name
        if tensor is None:
            del held[name]
        else:
            held[name] = tensor
    save_file(held, file)


def twin_of(folder):
    """The same model in plain torch: dequantized weights, activations quantized as the contract says."""
    config = transformers.AutoConfig.from_pretrained(folder)
    del config.quantization_config
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    held = load_file(folder / "layer.safetensors") | load_file(folder / "rest.safetensors")
    group = json.loads((folder / "config.json").read_text())["quantization_config"]["group_size"]
    model.load_state_dict({name: tensor for name, tensor in held.items() if name.endswith("weight")}, strict=False)
    for name, module in list(model.named_modules()):
        if f"{name}.qweight" in held:
            weight = reference.dequantized(held[f"{name}.qweight"], held[f"{name}.scales"], group)
            module.forward = lambda x, weight=weight: reference.linear(x, weight)
    model.tie_weights()
    return model.eval()


def test_the_real_layer_through_transformers(folder):
    model = load_model(folder)
    layers = {name for name, module in model.named_modules() if isinstance(module, AutoRoundLinear)}
    assert layers == {LAYER + part for part in (
        "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj",
        "mlp.down_proj")}
    assert model.lm_head.weight.data_ptr() == model.model.embed_tokens.weight.data_ptr()
    words = torch.randint(0, WORDS, (2, 40))
    radiance_autoround.reset_call_counts()
    with torch.inference_mode():
        logits = model(words).logits.double()
        expected = twin_of(folder)(words).logits.double()
    assert {count.name: count.calls for count in radiance_autoround.call_counts() if count.calls} == dict.fromkeys(layers, 1)
    assert (logits - expected).norm() <= 1e-2 * expected.norm()
    assert (logits.argmax(-1) == expected.argmax(-1)).float().mean() >= 0.97


def test_a_model_that_exists_already(folder):
    config = transformers.AutoConfig.from_pretrained(folder)
    del config.quantization_config
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    assert len(load_linears(model, folder)) == 7
    words = torch.randint(0, WORDS, (1, 9))
    with torch.inference_mode():
        assert torch.equal(model(words).logits, load_model(folder)(words).logits)


def test_one_layer_equals_the_product(folder):
    model = load_model(folder)
    module = model.model.layers[0].mlp.down_proj
    held = load_file(folder / "layer.safetensors")
    weight = reference.dequantized(held[LAYER + "mlp.down_proj.qweight"], held[LAYER + "mlp.down_proj.scales"],
                                   module.group_size, torch.float64)
    x = torch.randn(5, 1536).bfloat16()
    assert (module(x).double() - reference.linear(x, weight).double()).norm() <= 5e-3 * module(x).double().norm()


def test_a_short_last_group(tmp_path):
    """576 in groups of 128: four and a half, five rows of scales."""
    model = torch.nn.ModuleDict({"layers": torch.nn.ModuleList([torch.nn.ModuleDict({"up": torch.nn.Linear(576, 64)})])})
    qweight = torch.randint(-2**31, 2**31 - 1, (72, 64), dtype=torch.int32)
    scales = (torch.randn(5, 64) * 0.01).half()
    bias = torch.randn(64)
    parts = {"qweight": qweight, "scales": scales, "bias": bias,
             "qzeros": torch.full((5, 8), 0x77777777, dtype=torch.int32)}
    save_file({f"layers.0.up.{part}": tensor for part, tensor in parts.items()}, tmp_path / "model.safetensors")
    settings = {"quant_method": "auto-round", "packing_format": "auto_round:auto_gptq", "bits": 4, "group_size": 128,
                "sym": True}
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": settings}))
    assert load_linears(model, tmp_path) == ["layers.0.up"]
    x = torch.randn(3, 576)
    expected = reference.linear(x, reference.dequantized(qweight, scales, 128, torch.float64), bias)
    torch.testing.assert_close(model["layers"][0]["up"](x), expected, rtol=1e-5, atol=1e-5)
    parts["scales"] = scales[:4]
    save_file({f"layers.0.up.{part}": tensor for part, tensor in parts.items()}, tmp_path / "model.safetensors")
    stopped(tmp_path, "layers.0.up", "scales", lambda: load_linears(model, tmp_path))


def stopped(folder, name, reason, load=None):
    with pytest.raises(ValueError) as caught:
        (load or (lambda: load_model(folder)))()
    first = str(caught.value).splitlines()[0]
    assert isinstance(caught.value, UnsupportedCheckpoint)
    assert first.startswith(name) and reason in first, first


def test_missing_and_unread_tensors(folder):
    down = "mlp.down_proj."
    scales = load_file(folder / "layer.safetensors")[LAYER + down + "scales"]
    change(folder, **{down + "scales": None})
    stopped(folder, LAYER + "mlp.down_proj", "scales missing")
    change(folder, **{down + "scales": scales, "mlp.extra.weight": torch.zeros(3)})
    stopped(folder, LAYER + "mlp.extra.weight", "nothing in the model reads")
    change(folder, **{"mlp.extra.weight": None, "input_layernorm.weight": None})
    stopped(folder, LAYER + "input_layernorm.weight", "no such tensor")


def test_a_file_that_is_missing(folder):
    (folder / "rest.safetensors").unlink()
    stopped(folder, "model.embed_tokens.weight", "nor model.norm.weight")


def test_contradictions(folder):
    gate = load_file(folder / "layer.safetensors")
    zeros = gate[LAYER + "mlp.gate_proj.qzeros"].clone()
    zeros[1, 2] = 0x77777776
    change(folder, **{"mlp.gate_proj.qzeros": zeros})
    stopped(folder, LAYER + "mlp.gate_proj", "asymmetric")
    change(folder, **{"mlp.gate_proj.qzeros": gate[LAYER + "mlp.gate_proj.qzeros"],
                      "mlp.up_proj.qweight": gate[LAYER + "mlp.up_proj.qweight"][:, :1024].contiguous()})
    stopped(folder, LAYER + "mlp.up_proj", "scales")
    change(folder, **{f"mlp.up_proj.{part}": gate[LAYER + f"mlp.up_proj.{part}"][:, :size].contiguous()
                      for part, size in (("qweight", 1024), ("scales", 1024), ("qzeros", 128))})
    stopped(folder, LAYER + "mlp.up_proj", "1024 x 576")
