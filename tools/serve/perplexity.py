#!/usr/bin/env python3
"""Perplexity of a served model, by the token log-probabilities that any OpenAI endpoint gives of a prompt.

The text is cut into windows of a fixed number of tokens, each read without the ones before it. The uncertainty
is that of the mean over windows: tokens of one window depend on each other, windows hardly.

  perplexity.py --endpoint http://127.0.0.1:8000/v1 --model NAME --tokenizer FOLDER --text TEXTS.json
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import report

Scorer = Callable[[list[int]], list[float]]  # token ids to the log-probability of each but the first


def endpoint_scorer(url: str, model: str, key: str = "none") -> Scorer:
    import openai

    client = openai.OpenAI(base_url=url, api_key=key, timeout=1200, max_retries=0)

    def score(tokens: list[int]) -> list[float]:
        answer = client.completions.create(model=model, prompt=tokens, max_tokens=1, temperature=0, logprobs=1,
                                           echo=True)
        values = answer.choices[0].logprobs.token_logprobs[1:len(tokens)]
        if len(values) != len(tokens) - 1 or any(value is None for value in values):
            raise SystemExit(f"{url} gave {len(values)} log-probabilities of a prompt of {len(tokens)} tokens")
        return values

    return score


def local_scorer(model: Any) -> Scorer:
    import torch

    @torch.inference_mode()
    def score(tokens: list[int]) -> list[float]:
        ids = torch.tensor([tokens])
        logits = model(ids, use_cache=False).logits[0, :-1].float()
        return torch.log_softmax(logits, -1).gather(1, ids[0, 1:, None])[:, 0].tolist()

    return score


def windows_of(text: str, tokenizer: Any, window: int) -> list[list[int]]:
    tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
    return [tokens[at:at + window] for at in range(0, len(tokens) - window + 1, window)]


def measure(texts: dict[str, str], tokenizer: Any, window: int, score: Scorer,
            progress: bool = False) -> dict[str, list[list[float]]]:
    """For each text the log-probabilities of each window's tokens."""
    scores: dict[str, list[list[float]]] = {}
    for name, text in texts.items():
        parts = windows_of(text, tokenizer, window)
        scores[name] = []
        for number, tokens in enumerate(parts):
            scores[name].append(score(tokens))
            if progress:
                print(f"\r{name}: window {number + 1} of {len(parts)}", end="", flush=True)
        if progress:
            print()
    return scores


def summary(windows: list[list[float]]) -> dict[str, Any]:
    """Perplexity with the standard error of the mean over windows, carried to the exponential."""
    means = [-statistics.fmean(window) for window in windows]
    nll = statistics.fmean(means)
    error = statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else math.nan
    return {"windows": len(means), "tokens": sum(map(len, windows)), "nll": nll, "nll_error": error,
            "perplexity": math.exp(nll), "perplexity_error": math.exp(nll) * error}


def difference(windows: list[list[float]], base: list[list[float]]) -> dict[str, Any]:
    """How much more NLL a token has than in `base`, window by window: the text's own spread drops out."""
    deltas = [statistics.fmean(theirs) - statistics.fmean(ours) for ours, theirs in zip(windows, base, strict=True)]
    return {"nll": statistics.fmean(deltas), "error": statistics.stdev(deltas) / math.sqrt(len(deltas))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", required=True, help="base URL, ending in /v1")
    parser.add_argument("--model", required=True, help="the model's name there")
    parser.add_argument("--key", default="none", help="API key")
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder with the model's tokenizer")
    parser.add_argument("--text", type=Path, required=True, help="JSON object: name to text; or a text file")
    parser.add_argument("--window", type=int, default=512, help="tokens a window (default: 512)")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()

    from transformers import AutoTokenizer

    content = options.text.read_text(encoding="utf-8")
    texts = json.loads(content) if options.text.suffix == ".json" else {options.text.stem: content}
    scores = measure(texts, AutoTokenizer.from_pretrained(options.tokenizer), options.window,
                     endpoint_scorer(options.endpoint, options.model, options.key), progress=True)
    rows = []
    for name, windows in {**scores, "all": [window for part in scores.values() for window in part]}.items():
        rows.append({"model": options.model, "text": name, **summary(windows)})
        row = rows[-1]
        print(f"{name}: perplexity {row['perplexity']:.3f} +- {row['perplexity_error']:.3f} over {row['tokens']} "
              "tokens")
    if options.json:
        report.write(options.json, {**report.provenance("perplexity-1"), "window": options.window, "rows": rows})


if __name__ == "__main__":
    main()
