#!/usr/bin/env python3
"""Whether answers depend on the company: 16 different prompts, each alone and then all at once, greedily.

A batch changes which kernel multiplies and in which order attention adds, so that a served 16-bit model already
answers some prompts differently in company. The count of a quantized model is to be compared with that.

  concurrency.py --endpoint http://127.0.0.1:8000/v1 --model NAME
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import report
from prompts import PROMPTS, first_difference


def greedy(client: Any, model: str, prompt: str, tokens: int) -> tuple[list, str]:
    """The greedy continuation: ids of its tokens where the server tells them (vLLM), their texts elsewhere; its text."""
    choice = client.completions.create(model=model, prompt=prompt, max_tokens=tokens, temperature=0, logprobs=1,
                                       extra_body={"ignore_eos": True, "return_token_ids": True}).choices[0]
    return getattr(choice, "token_ids", None) or choice.logprobs.tokens, choice.text


def compare(client: Any, model: str, tokens: int = 48, prompts: tuple[str, ...] = PROMPTS) -> dict[str, Any]:
    alone = [greedy(client, model, prompt, tokens) for prompt in prompts]
    with ThreadPoolExecutor(len(prompts)) as pool:
        together = list(pool.map(lambda prompt: greedy(client, model, prompt, tokens), prompts))
    positions = [first_difference(ours[0], theirs[0]) for ours, theirs in zip(alone, together)]
    found = [position for position in positions if position is not None]
    return {"model": model, "prompts": len(prompts), "tokens": tokens, "diverged": len(found),
            "positions": positions, "texts": [text for _, text in alone], "ids": [ids for ids, _ in alone]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", required=True, help="base URL, ending in /v1")
    parser.add_argument("--model", required=True)
    parser.add_argument("--key", default="none", help="API key")
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    import openai

    client = openai.OpenAI(base_url=options.endpoint, api_key=options.key, timeout=1200, max_retries=0)
    row = compare(client, options.model, options.tokens)
    print(f"{row['diverged']} of {row['prompts']} answers differ in company, first at token {row['positions']}")
    if options.json:
        report.write(options.json, {**report.provenance("concurrency-1"), "rows": [row]})


if __name__ == "__main__":
    main()
