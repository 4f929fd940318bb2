"""Quantize a Hugging Face folder to int4 with auto-round, on the CPU."""

import argparse
import json
import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

import torch
from auto_round import AutoRound
from transformers import AutoModelForCausalLM, AutoTokenizer

from step import fail, replaced_folder

VERSIONED = ("auto-round", "torch", "transformers", "accelerate", "datasets", "tokenizers", "safetensors", "numpy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("calibration", type=Path, help="a JSON list of texts, each longer than the sequence length")
    parser.add_argument("output", type=Path)
    parser.add_argument("--format", required=True, choices=["auto_round:auto_gptq", "auto_gptq"])
    parser.add_argument("--group-size", type=int, required=True)
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--samples", type=int, default=128)
    parser.add_argument("--sequence-length", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--seed", type=int, default=42)
    arguments = parser.parse_args()
    model_path, output = arguments.model.resolve(), arguments.output.resolve()

    # auto-round writes the name of the data set into the export: a bare file name there tells no one's paths.
    calibration = arguments.calibration.resolve()
    os.chdir(calibration.parent)
    if len(json.loads(calibration.read_text())) < arguments.samples:
        fail(f"{calibration}: fewer than {arguments.samples} samples")

    tokenizer = AutoTokenizer.from_pretrained(model_path)
    model = AutoModelForCausalLM.from_pretrained(model_path, dtype=torch.bfloat16)
    settings = {
        "scheme": "W4A16",
        "sym": True,
        "group_size": arguments.group_size,
        "iters": arguments.iterations,
        "nsamples": arguments.samples,
        "seqlen": arguments.sequence_length,
        "batch_size": arguments.batch_size,
        "seed": arguments.seed,
        "dataset": calibration.name,
    }
    started = time.monotonic()
    with replaced_folder(output) as folder:
        AutoRound(model, tokenizer, device_map="cpu", enable_torch_compile=False, **settings).quantize_and_save(
            str(folder), format=arguments.format
        )
        # auto-round puts the export into a folder of its own, named after the model, within the one it is given.
        exported = [path.parent for path in folder.rglob("config.json")]
        if len(exported) != 1:
            fail(f"auto-round wrote {len(exported)} config.json files into {folder}, 1 was expected")
        if exported[0] != folder:
            for path in exported[0].iterdir():
                path.rename(folder / path.name)
            exported[0].rmdir()
        made_with = {
            "format": arguments.format,
            "settings": settings,
            "python": platform.python_version(),
            "packages": {name: version(name) for name in VERSIONED},
            "threads": torch.get_num_threads(),
            "seconds": round(time.monotonic() - started, 1),
        }
        (folder / "made_with.json").write_text(json.dumps(made_with, indent=2) + "\n")
    print(f"{output}: {made_with['seconds']} s")


if __name__ == "__main__":
    main()
