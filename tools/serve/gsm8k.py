#!/usr/bin/env python3
"""GSM8K against any OpenAI endpoint. The user supplies the JSONL, lines of {"question", "answer"}.

  gsm8k.py --endpoint http://127.0.0.1:8000/v1 --model NAME --data test.jsonl --limit 500

The first --shots questions, or those of --examples, are shown with their answers; greedy; the last number of the
reply is compared with what follows "####". The uncertainty is the binomial standard error.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import report

NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def read_questions(path: Path) -> list[dict[str, str]]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if "####" not in row["answer"]:
                raise ValueError("the answer has no ####")
            rows.append({"question": row["question"].strip(), "answer": row["answer"].strip()})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SystemExit(f"{path}:{number}: not a GSM8K line: {error!r}") from error
    return rows


def last_number(text: str) -> Fraction | None:
    found = NUMBER.findall(text)
    return Fraction(found[-1].replace(",", "")) if found else None


def messages(shots: list[dict[str, str]], question: str) -> list[dict[str, str]]:
    talk = [{"role": "system", "content": "Solve the problem step by step. End with '#### ' and the number."}]
    for shot in shots:
        talk += [{"role": "user", "content": shot["question"]}, {"role": "assistant", "content": shot["answer"]}]
    return [*talk, {"role": "user", "content": question}]


def ask(client: Any, options: argparse.Namespace, shots: list[dict[str, str]], row: dict[str, str]) -> dict[str, Any]:
    answer = client.chat.completions.create(model=options.model, messages=messages(shots, row["question"]),
                                            temperature=0, max_tokens=options.max_tokens)
    choice = answer.choices[0]
    reply = choice.message.content or ""
    return {"question": row["question"], "reply": reply, "finish": choice.finish_reason,
            "correct": last_number(reply) == last_number(row["answer"].rpartition("####")[2])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", required=True, help="base URL, ending in /v1")
    parser.add_argument("--model", required=True)
    parser.add_argument("--key", default="none", help="API key")
    parser.add_argument("--data", type=Path, required=True, help="GSM8K's test JSONL")
    parser.add_argument("--examples", type=Path, help="JSONL for the shots (default: the data's first lines)")
    parser.add_argument("--shots", type=int, default=5)
    parser.add_argument("--limit", type=int, default=500, help="questions asked")
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--json", type=Path, help="write figures and replies here")
    options = parser.parse_args()

    import openai

    rows = read_questions(options.data)
    shots = read_questions(options.examples)[:options.shots] if options.examples else rows[:options.shots]
    asked = (rows if options.examples else rows[options.shots:])[:options.limit]
    if not asked:
        raise SystemExit(f"{options.data} holds no question beside the {options.shots} shots")
    client = openai.OpenAI(base_url=options.endpoint, api_key=options.key, timeout=1200, max_retries=2)
    with ThreadPoolExecutor(options.concurrency) as pool:
        replies = []
        for reply in pool.map(lambda row: ask(client, options, shots, row), asked):
            replies.append(reply)
            right = sum(each["correct"] for each in replies)
            print(f"\r{right} of {len(replies)} right", end="", flush=True)
    share = right / len(replies)
    error = math.sqrt(share * (1 - share) / len(replies))
    cut = sum(reply["finish"] == "length" for reply in replies)
    print(f"\n{100 * share:.2f} % +- {100 * error:.2f} % of {len(replies)} questions; {cut} replies were cut off")
    if options.json:
        report.write(options.json, {**report.provenance("gsm8k-1"), "model": options.model, "shots": len(shots),
                                    "questions": len(replies), "accuracy": share, "accuracy_error": error,
                                    "cut_off": cut, "replies": replies})


if __name__ == "__main__":
    main()
