#!/usr/bin/env python3
"""What a quantized model loses: served int4 beside the same weights in 16 bits, the source model, and MXFP4.

  quality.py --models DIR --text evaluation.json --json docs/results/cpu-serving-quality.json

DIR holds smollm2-bf16 and the exports that tools/make_checkpoint made of it (smollm2-g128, smollm2-g64). MXFP4 is made
of the source by `radiance quantize`. Served models answer through vLLM's OpenAI server; the others run in transformers.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer

import concurrency
import local_model
import perplexity
import report
from prompts import PROMPTS, first_difference
from server import Server

TOKENS = 48


def greedy_locally(model: torch.nn.Module, tokenizer: Any, prompt: str) -> list[int]:
    ids = tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
    with torch.inference_mode():
        made = model.generate(**ids, max_new_tokens=TOKENS, min_new_tokens=TOKENS, do_sample=False,
                              eos_token_id=None, pad_token_id=tokenizer.pad_token_id)
    return made[0, ids["input_ids"].shape[1]:].tolist()


def first_divergences(ours: list[list[int]], theirs: list[list[int]]) -> dict[str, Any]:
    positions = [first_difference(*pair) for pair in zip(ours, theirs)]
    return {"positions": positions, "same": positions.count(None), "prompts": len(positions), "tokens": TOKENS,
            # A text that never parts counts as parting after its end.
            "median": statistics.median(TOKENS if position is None else position for position in positions)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--text", type=Path, required=True, help="JSON object: name to text")
    parser.add_argument("--radiance", type=Path, default=report.REPOSITORY / "build/cli/radiance")
    parser.add_argument("--window", type=int, default=512)
    parser.add_argument("--json", type=Path, required=True)
    options = parser.parse_args()

    source = options.models / "smollm2-bf16"
    tokenizer = AutoTokenizer.from_pretrained(source)
    texts = json.loads(options.text.read_text(encoding="utf-8"))
    scores: dict[tuple[str, str], list[list[float]]] = {}
    greedy: dict[str, list[list[int]]] = {}
    company: list[dict[str, Any]] = []

    def record(name: str, measured: dict[str, list[list[float]]], continuations: list[list[int]]) -> None:
        scores.update({(name, text): windows for text, windows in measured.items()})
        scores[name, "all"] = [window for windows in measured.values() for window in windows]
        greedy[name] = continuations
        print(f"{name}: perplexity {perplexity.summary(scores[name, 'all'])['perplexity']:.3f}", flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        for folder, name in ((options.models / "smollm2-g128", "int4 g128 served"),
                             (options.models / "smollm2-g64", "int4 g64 served"), (source, "bf16 served")):
            # One thread: results do not depend on it, and other work on the machine then costs no more than its share.
            with Server(folder, Path(scratch) / "server.log", ["--enforce-eager", "--no-enable-prefix-caching"],
                        {"OMP_NUM_THREADS": "1"}, track=folder != source) as server:
                client = server.client()
                answers = concurrency.compare(client, server.name, TOKENS)
                continuations = answers.pop("ids")
                company.append({**answers, "model": name})
                record(name, perplexity.measure(texts, tokenizer, options.window,
                                                perplexity.endpoint_scorer(f"{server.url}/v1", server.name)),
                       continuations)
        mxfp4 = Path(scratch) / "mxfp4"
        subprocess.run([str(options.radiance), "quantize", str(source), str(mxfp4), "--format", "mxfp4"], check=True,
                       stdout=subprocess.DEVNULL)
        for name, folder, activations in (
                ("int4 g128 weights, 16-bit activations", options.models / "smollm2-g128", "16bit"),
                ("int4 g64 weights, 16-bit activations", options.models / "smollm2-g64", "16bit"),
                ("bf16 source", source, "16bit"), ("MXFP4 W4A8", mxfp4, "radiance")):
            model = local_model.load(folder, activations)
            record(name, perplexity.measure(texts, tokenizer, options.window, perplexity.local_scorer(model)),
                   [greedy_locally(model, tokenizer, prompt) for prompt in PROMPTS])
            del model

    rows, divergences = [], []
    for name in greedy:
        for text in [*texts, "all"]:
            windows = scores[name, text]
            rows.append({"model": name, "text": text, **perplexity.summary(windows), "above_source":
                         perplexity.difference(windows, scores["bf16 source", text])})
    for ours in ("int4 g128 served", "int4 g64 served"):
        divergences += [{"model": ours, "other": other, **first_divergences(greedy[ours], theirs)}
                        for other, theirs in greedy.items() if other != ours]
    report.write(options.json, {**report.provenance("serving-quality-1"), "window": options.window, "rows": rows,
                                "divergences": divergences, "company": company})


if __name__ == "__main__":
    main()
