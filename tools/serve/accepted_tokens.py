#!/usr/bin/env python3
"""Prints every few seconds how many tokens of a draft a speculating vLLM server accepts, by its metrics.

  accepted_tokens.py --url http://127.0.0.1:8000 [--pid SERVER]
"""

from __future__ import annotations

import argparse
import os
import re
import time
import urllib.request

METRICS = {"drafts": "vllm:spec_decode_num_drafts_total", "drafted": "vllm:spec_decode_num_draft_tokens_total",
           "accepted": "vllm:spec_decode_num_accepted_tokens_total"}


def parsed(text: str) -> dict[str, float]:
    """The counters, summed over their labels; those that the server does not have are 0."""
    return {name: sum(map(float, re.findall(rf"^{re.escape(metric)}(?:\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE)))
            for name, metric in METRICS.items()}


def line(before: dict[str, float], now: dict[str, float]) -> str | None:
    """What happened in between, None if there was no draft."""
    drafts, drafted, accepted = (now[name] - before[name] for name in METRICS)
    if drafts <= 0:
        return None
    return (f"speculation: {accepted / drafts:.2f} accepted tokens a draft of {drafted / drafts:.1f} "
            f"({100 * accepted / drafted:.0f} %), over {drafts:.0f} drafts")


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--pid", type=int, help="end with this process")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    before = dict.fromkeys(METRICS, 0.0)
    while options.pid is None or is_running(options.pid):
        try:
            with urllib.request.urlopen(f"{options.url}/metrics", timeout=30) as answer:
                now = parsed(answer.read().decode())
            if text := line(before, now):
                print(text, flush=True)
            before = now
        except OSError:
            pass  # still starting, or ending
        time.sleep(options.seconds)


if __name__ == "__main__":
    main()
