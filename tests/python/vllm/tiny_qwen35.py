"""A tiny model of Qwen3.5's architecture with random weights, quantized by `radiance quantize`.

Three layers of linear attention and one of full attention with an output gate, as every four layers of the real
one, and the tensors of a layer for multi-token prediction, which transformers' class does not know.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

VOCABULARY = 512


def config() -> Qwen3_5TextConfig:
    return Qwen3_5TextConfig(
        vocab_size=VOCABULARY, hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, head_dim=64, linear_num_key_heads=2, linear_num_value_heads=4,
        linear_key_head_dim=64, linear_value_head_dim=64, max_position_embeddings=2048, tie_word_embeddings=False,
        attn_output_gate=True, mtp_num_hidden_layers=1, bos_token_id=1, eos_token_id=2, pad_token_id=0,
        dtype="bfloat16")


def mtp_tensors(cfg: Qwen3_5TextConfig, generator: torch.Generator) -> dict[str, torch.Tensor]:
    hidden, ffn = cfg.hidden_size, cfg.intermediate_size
    queries, keys = cfg.num_attention_heads * cfg.head_dim, cfg.num_key_value_heads * cfg.head_dim
    shapes = {"fc": (hidden, 2 * hidden), "layers.0.self_attn.q_proj": (2 * queries, hidden),
              "layers.0.self_attn.k_proj": (keys, hidden), "layers.0.self_attn.v_proj": (keys, hidden),
              "layers.0.self_attn.o_proj": (hidden, queries), "layers.0.mlp.gate_proj": (ffn, hidden),
              "layers.0.mlp.up_proj": (ffn, hidden), "layers.0.mlp.down_proj": (hidden, ffn)}
    norms = {"norm": hidden, "pre_fc_norm_hidden": hidden, "pre_fc_norm_embedding": hidden,
             "layers.0.input_layernorm": hidden, "layers.0.post_attention_layernorm": hidden,
             "layers.0.self_attn.q_norm": cfg.head_dim, "layers.0.self_attn.k_norm": cfg.head_dim}
    tensors = {f"mtp.{name}.weight": 0.05 * torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    tensors.update({f"mtp.{name}.weight": torch.zeros(size) for name, size in norms.items()})
    return tensors


def make(folder: Path, radiance: Path, group: int = 64) -> Path:
    """Writes folder/bf16 and folder/int4, and returns the latter."""
    cfg = config()
    torch.manual_seed(5)
    model = Qwen3_5ForCausalLM(cfg)
    generator = torch.Generator().manual_seed(6)
    state = dict(model.state_dict())
    for name, tensor in state.items():
        if name.endswith("norm.weight"):  # 1 + weight, but for the gated one of linear attention
            tensor += 0.1 * torch.randn(tensor.shape, generator=generator)
        # Roundings to fp8 flip with the last bit of their inputs, so larger layers end in larger differences between
        # any two correct programs; smaller ones, and a wrong layer is no longer seen.
        elif name in ("model.embed_tokens.weight", "lm_head.weight"):
            tensor.normal_(std=1.0 if name.startswith("model") else 0.1, generator=generator)
        elif tensor.dim() == 2:
            tensor.normal_(std=0.025, generator=generator)
    state.update(mtp_tensors(cfg, generator))
    source, destination = folder / "bf16", folder / "int4"
    source.mkdir(parents=True)
    save_file({name: tensor.to(torch.bfloat16).contiguous() for name, tensor in state.items()},
              source / "model.safetensors", metadata={"format": "pt"})
    cfg.architectures = ["Qwen3_5ForCausalLM"]
    cfg.save_pretrained(source)
    subprocess.run([str(radiance), "quantize", str(source), str(destination), "--group", str(group)], check=True,
                   stdout=subprocess.DEVNULL)
    names = load_file(destination / "model.safetensors").keys()
    assert any(name.startswith("mtp.") for name in names) and any(name.endswith("qweight") for name in names)
    return destination
