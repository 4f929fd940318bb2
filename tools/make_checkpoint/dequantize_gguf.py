"""Turn a Llama-architecture GGUF file into a Hugging Face folder (bfloat16).

Everything comes from the GGUF file: tensors, dimensions, tokenizer, chat template.
"""

import argparse
import json
import re
from pathlib import Path

import numpy as np
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer

from step import fail, replaced_folder

TENSOR_NAMES = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
TOKEN_TYPE_CONTROL = 3


def hugging_face_name(gguf_name: str) -> str:
    if gguf_name == "token_embd.weight":
        return "model.embed_tokens.weight"
    if gguf_name == "output_norm.weight":
        return "model.norm.weight"
    match = re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", gguf_name)
    if not match or match[2] not in TENSOR_NAMES:
        fail(f"tensor {gguf_name}: no Hugging Face name is known for it")
    return f"model.layers.{match[1]}.{TENSOR_NAMES[match[2]]}.weight"


def undo_rope_permutation(weight: np.ndarray, heads: int) -> np.ndarray:
    """llama.cpp's converter interleaves the two rotary halves of each q and k head; split them again."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def model_config(field) -> dict:
    """config.json of the original model, with every number taken from the GGUF metadata."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": field("tokenizer.ggml.bos_token_id"),
        "eos_token_id": field("tokenizer.ggml.eos_token_id"),
        "pad_token_id": field("tokenizer.ggml.padding_token_id"),
        "hidden_act": "silu",
        "hidden_size": field("llama.embedding_length"),
        "intermediate_size": field("llama.feed_forward_length"),
        "max_position_embeddings": field("llama.context_length"),
        "mlp_bias": False,
        "model_type": "llama",
        "num_attention_heads": field("llama.attention.head_count"),
        "num_hidden_layers": field("llama.block_count"),
        "num_key_value_heads": field("llama.attention.head_count_kv"),
        # GGUF keeps this as float32: 9.999999747378752e-06 is the nearest one to 1e-05.
        "rms_norm_eps": float(f"{field('llama.attention.layer_norm_rms_epsilon'):.6g}"),
        "rope_scaling": None,
        "rope_theta": field("llama.rope.freq_base"),
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "vocab_size": field("llama.vocab_size"),
    }


def write_tokenizer(field, folder: Path) -> None:
    if field("tokenizer.ggml.model") != "gpt2" or field("tokenizer.ggml.pre") != "smollm":
        fail("tokenizer: only the byte-level BPE 'gpt2' with the pre-tokenizer 'smollm' is supported")
    tokens, types = field("tokenizer.ggml.tokens"), field("tokenizer.ggml.token_type")
    merges = [tuple(merge.split(" ")) for merge in field("tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    special = [token for token, kind in zip(tokens, types) if kind == TOKEN_TYPE_CONTROL]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": tokens[field("tokenizer.ggml.bos_token_id")],
        "eos_token": tokens[field("tokenizer.ggml.eos_token_id")],
        "unk_token": tokens[field("tokenizer.ggml.unknown_token_id")],
        "pad_token": tokens[field("tokenizer.ggml.padding_token_id")],
        "clean_up_tokenization_spaces": False,
        "model_max_length": field("llama.context_length"),
        "chat_template": field("tokenizer.chat_template"),
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")


def check(folder: Path, gguf: Path) -> None:
    """transformers reads GGUF with code of its own and must find the same model; and the model must make sense."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    reference = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    state = model.state_dict()
    for name, tensor in reference.state_dict().items():
        if not torch.equal(tensor.to(torch.bfloat16).float(), state[name]):
            fail(f"{name}: differs from what transformers reads in {gguf}")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    question = [{"role": "user", "content": "What is the capital of France?"}]
    prompt = tokenizer.apply_chat_template(
        question, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    tokens = model.generate(**prompt, max_new_tokens=16, do_sample=False)[0, prompt["input_ids"].shape[1] :]
    answer = tokenizer.decode(tokens, skip_special_tokens=True)
    if "Paris" not in answer:
        fail(f"asked for the capital of France, the dequantized model answers {answer!r}")
    print(f"as transformers reads it; the capital of France: {answer!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()

    reader = GGUFReader(arguments.gguf)

    def field(name: str):
        if name not in reader.fields:
            fail(f"{arguments.gguf}: metadata field {name} is missing")
        return reader.fields[name].contents()

    if field("general.architecture") != "llama":
        fail(f"{arguments.gguf}: architecture {field('general.architecture')}, only llama is supported")
    if any(tensor.name == "output.weight" for tensor in reader.tensors):
        fail(f"{arguments.gguf}: has output.weight, but this model's embeddings are tied")
    config = model_config(field)
    heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}

    tensors = {}
    for tensor in reader.tensors:
        name = hugging_face_name(tensor.name)
        weight = dequantize(tensor.data, tensor.tensor_type)
        module = name.split(".")[-2]
        if module in heads:
            weight = undo_rope_permutation(weight, heads[module])
        tensors[name] = torch.from_numpy(np.array(weight, dtype=np.float32)).to(torch.bfloat16)

    with replaced_folder(arguments.output) as folder:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        generation = {key: config[key] for key in ("bos_token_id", "eos_token_id", "pad_token_id")}
        (folder / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n")
        write_tokenizer(field, folder)
        check(folder, arguments.gguf)
    print(f"{arguments.output}: {len(tensors)} tensors")


if __name__ == "__main__":
    main()
