"""The target's architecture through transformers and the loader, on every device: hybrid linear attention, layers that
stay at 16 bits, multi-token prediction that the model's class ignores."""

import json

import pytest
import torch
from safetensors.torch import save_file

import problem
import radiance_autoround
from radiance_autoround import AutoRoundLinear, reference
from radiance_autoround.loader import load_model

transformers = pytest.importorskip("transformers")
if not hasattr(transformers, "Qwen3_5TextConfig"):
    pytest.skip(f"transformers {transformers.__version__} has no qwen3_5", allow_module_level=True)

POSITIONS = 1000
GROUP = 128


def random_checkpoint(folder, deeper):
    """A tiny model whose linears in the blocks are random int4, but for in_proj_a and in_proj_b."""
    config = transformers.Qwen3_5TextConfig(
        vocab_size=512, hidden_size=320, intermediate_size=448, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, head_dim=64, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=64,
        linear_value_head_dim=64, layer_types=["linear_attention"] * 3 + ["full_attention"], tie_word_embeddings=False)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    prefix = "model.language_model." if deeper else "model."
    tensors, extra = {}, {}
    for name, tensor in model.state_dict().items():
        stored = prefix + name.removeprefix("model.") if name.startswith("model.") else name
        module = name.removesuffix(".weight")
        linear = isinstance(model.get_submodule(module), torch.nn.Linear) if module != name else False
        if not linear or module == "lm_head":
            tensors[stored] = tensor.contiguous()
        elif module.endswith(("in_proj_a", "in_proj_b")):
            tensors[stored] = tensor.contiguous()
            extra[stored.removesuffix(".weight")] = {"bits": 16, "data_type": "fp"}
        else:
            n, k = tensor.shape
            rows = -(-k // GROUP)
            stored = stored.removesuffix("weight")
            tensors[stored + "qweight"] = torch.randint(-2**31, 2**31 - 1, (k // 8, n), dtype=torch.int32)
            tensors[stored + "scales"] = (torch.randn(rows, n) * 0.02 / 4.6).half()  # weights of about 0.02
            tensors[stored + "qzeros"] = torch.full((rows, n // 8), 0x77777777, dtype=torch.int32)
    # Embeddings that outweigh what the layers add: else the quantization of activations makes any two computations of
    # a random model drift apart, each value that is rounded elsewhere moving more of them in the next layer.
    tensors[prefix + "embed_tokens.weight"] = (0.3 * torch.randn(512, 320)).bfloat16()
    tensors["mtp.fc.weight"] = torch.zeros(320, 640, dtype=torch.bfloat16)
    save_file(tensors, folder / "model.safetensors")
    written = config.to_dict()
    written["quantization_config"] = {
        "quant_method": "auto-round", "packing_format": "auto_round:auto_gptq", "bits": 4, "group_size": GROUP, "sym": True,
        "data_type": "int", "block_name_to_quantize": prefix + "layers", "extra_config": extra}
    (folder / "config.json").write_text(json.dumps(written))
    return tensors, prefix


@pytest.mark.parametrize("deeper", [False, True], ids=["text names", "multimodal names"])
def test_logits_are_the_twins(tmp_path, device, deeper):
    tensors, prefix = random_checkpoint(tmp_path, deeper)
    # In fp32: in bf16 every rounding that falls elsewhere moves a quantized activation of the next layer.
    model = load_model(tmp_path, device, torch.float32)
    quantized = {name for name, module in model.named_modules() if isinstance(module, AutoRoundLinear)}
    assert len(quantized) == 3 * 3 + 4 + 4 * 3  # in_proj_qkv, in_proj_z, out_proj; q, k, v, o; the MLPs
    names = {module: name for name, module in model.named_modules()}
    seen = []

    def keep(module, inputs, output):
        seen.append((module, inputs[0], output))

    twin = load_model(tmp_path, device, torch.float32)
    for name in quantized:
        stored = prefix + name.removeprefix("model.")
        model.get_submodule(name).register_forward_hook(keep)
        weight = reference.dequantized(tensors[stored + ".qweight"], tensors[stored + ".scales"], GROUP).to(device)
        twin.get_submodule(name).forward = lambda x, weight=weight: reference.linear(x, weight)
    words = torch.randint(0, 512, (1, POSITIONS), device=device)
    radiance_autoround.reset_call_counts()
    with torch.inference_mode():
        expected = twin(words).logits.double()
        assert not any(count.calls for count in radiance_autoround.call_counts())
        logits = model(words).logits.double()
    for module, x, y in seen:  # each layer, on the very inputs that it had
        stored = prefix + names[module].removeprefix("model.")
        weight = reference.dequantized(tensors[stored + ".qweight"], tensors[stored + ".scales"], GROUP, torch.float64)
        xq, scale = (part.double() for part in reference.quantized_activations(x.cpu()))
        exact = xq @ weight.T * scale
        largest = problem.largest_weights(tensors[stored + ".scales"], GROUP, weight.shape[1])
        bound = problem.element_bound(exact, xq, scale, largest, torch.float32, torch.device(device).type)
        over = float(((y.cpu().double() - exact).abs() / bound).max())
        assert over <= 1, f"{names[module]}: an element errs {over:.3f} times its bound"
    assert sum(count.calls for count in radiance_autoround.call_counts()) == len(quantized)
    print(f"relative difference {(logits - expected).norm() / expected.norm():.1e}")
    assert (logits - expected).norm() <= 1e-2 * expected.norm()
    assert (logits.argmax(-1) == expected.argmax(-1)).float().mean() >= 0.97
    # The bound sees one layer that is wrong.
    wrong = twin.get_submodule("model.layers.1.mlp.down_proj")
    wrong.forward = lambda x, forward=wrong.forward: -forward(x)
    with torch.inference_mode():
        difference = (twin(words).logits.double() - logits).norm() / expected.norm()
    print(f"with a layer negated {difference:.1e}")
    assert difference > 1e-2
