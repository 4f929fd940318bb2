#!/usr/bin/env python3
"""Where the perplexity of MXFP4 comes from: weights, activations, or this library.

  mxfp4_quality.py --models DIR --text evaluation.json --json docs/results/mxfp4-quality.json

The source DIR/smollm2-bf16 is rounded to MXFP4 by `radiance quantize` and, from the specification, by torch alone in this
file: the weights must be the same to the bit. They are multiplied by the library, by plain torch with activations rounded
to fp8, and with 16-bit activations. Int4 rounded to nearest, of the same source, stands beside them: the recorded int4
rows of docs/results/cpu-serving-quality.json are tuned.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import torch
from transformers import AutoTokenizer

import local_model
import perplexity
import report

BLOCK = 32
GRID = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)


def rounded_mxfp4(weight: torch.Tensor) -> torch.Tensor:
    """OCP Microscaling 1.0, section 6.3: the scale of a block is 2^(floor(log2(absmax)) - 2), values round to the nearest
    of e2m1's, ties to the even code, and saturate at 6."""
    blocks = weight.double().unflatten(-1, (-1, BLOCK))
    largest = blocks.abs().amax(-1, keepdim=True)
    exponent = torch.frexp(largest).exponent - 1 - 2
    scaled = torch.ldexp(blocks.abs(), -exponent)
    distance = (scaled[..., None] - GRID).abs()
    code = distance.argmin(-1)  # of two as near, the lower
    above = (code + 1).clamp(max=7)
    tied = distance.gather(-1, above[..., None])[..., 0] == distance.gather(-1, code[..., None])[..., 0]
    code = torch.where(tied & (above > code) & (code % 2 == 1), above, code)
    return torch.copysign(torch.ldexp(GRID[code], exponent), blocks).where(largest > 0, 0).flatten(-2).float()


def require_the_same(folder: Path, source: Path) -> int:
    tensors, originals = local_model.tensors_of(folder), local_model.tensors_of(source)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))["quantization_config"]
    weights = local_model.dequantized_weights(tensors, config)
    for module, weight in weights.items():
        theirs = rounded_mxfp4(originals[f"{module}.weight"])
        if not torch.equal(weight, theirs):
            raise SystemExit(f"{module}: {int((weight != theirs).sum())} weights differ from the specification's")
    return len(weights)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--text", type=Path, required=True, help="JSON object: name to text")
    parser.add_argument("--radiance", type=Path, default=report.REPOSITORY / "build/cli/radiance")
    parser.add_argument("--window", type=int, default=512)
    parser.add_argument("--windows", type=int, help="of each text (default: all)")
    parser.add_argument("--json", type=Path, required=True)
    options = parser.parse_args()

    source = options.models / "smollm2-bf16"
    tokenizer = AutoTokenizer.from_pretrained(source)
    texts = json.loads(options.text.read_text(encoding="utf-8"))
    scores: dict[str, list[list[float]]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        def quantized(name: str, *arguments: str) -> Path:
            folder = Path(scratch) / name
            subprocess.run([str(options.radiance), "quantize", str(source), str(folder), *arguments], check=True,
                           stdout=subprocess.DEVNULL)
            return folder

        mxfp4 = quantized("mxfp4", "--format", "mxfp4")
        same = require_the_same(mxfp4, source)
        print(f"{same} layers are what torch makes of the specification, to the bit", flush=True)
        for name, folder, activations in (
                ("bf16 source", source, "16bit"),
                ("MXFP4 W4A8, this library", mxfp4, "radiance"),
                ("MXFP4 weights, fp8 activations, plain torch", mxfp4, "fp8"),
                ("MXFP4 weights, 16-bit activations", mxfp4, "16bit"),
                ("int4 g32 by rounding, 16-bit activations", quantized("g32", "--group", "32"), "16bit")):
            model = local_model.load(folder, activations)
            score = perplexity.local_scorer(model)
            scores[name] = [score(tokens) for text in texts.values()
                            for tokens in perplexity.windows_of(text, tokenizer, options.window)[:options.windows]]
            print(f"{name}: perplexity {perplexity.summary(scores[name])['perplexity']:.3f}", flush=True)
            del model
    rows = [{"model": name, "text": "all", **perplexity.summary(windows),
             "above_source": perplexity.difference(windows, scores["bf16 source"])} for name, windows in scores.items()]
    report.write(options.json, {**report.provenance("mxfp4-quality-1"), "window": options.window,
                                "layers_the_same": same, "rows": rows})


if __name__ == "__main__":
    main()
