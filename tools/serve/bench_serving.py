#!/usr/bin/env python3
"""Tokens a second of served models, in one run: ours, vLLM's built-in methods for the same checkpoint, and bf16.

  bench_serving.py --models DIR --json docs/results/cpu-serving-speed.json

All servers are started first; then they take turns, round by round, and those that wait are stopped (SIGSTOP). Only
ratios of one round count: another program may take half of the machine in the next. --under CMD runs the measuring
part, not the starting, under a command: one that keeps others off the machine.

The checkpoint is group 64: K = 576 ends in half a group of 128, which vLLM's own methods do not load.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import report
from server import Server, metric

VOCABULARY = range(100, 40000)
NO_PLUGIN = {"VLLM_PLUGINS": "none"}
CONTESTANTS = {  # name: (folder, environment)
    "radiance W4A8": ("smollm2-g64", {}),
    "vLLM int4, 16-bit activations": ("smollm2-g64", {**NO_PLUGIN, "VLLM_CPU_INT4_W4A8": "0"}),
    "vLLM int4, int8 activations": ("smollm2-g64", {**NO_PLUGIN, "VLLM_CPU_INT4_W4A8": "1"}),
    "vLLM bf16": ("smollm2-bf16", NO_PLUGIN),
}


def random_prompt(tokens: int) -> list[int]:
    return [random.choice(VOCABULARY) for _ in range(tokens)]


def prefill(server: dict[str, str], client: Any, tokens: int) -> float:
    begin = time.perf_counter()
    client.completions.create(model=server["model"], prompt=random_prompt(tokens), max_tokens=1, temperature=0)
    return tokens / (time.perf_counter() - begin)


def decode(server: dict[str, str], client: Any, streams: int, tokens: int) -> float:
    """Tokens a second of all streams together, by the server's own time between tokens: reading streams would take the
    processors from the server, 250 times a second with 16 of them."""

    def gaps() -> tuple[float, float]:
        names = ("vllm:inter_token_latency_seconds_sum", "vllm:inter_token_latency_seconds_count")
        return tuple(metric(server["url"], name) for name in names)

    before = gaps()
    with ThreadPoolExecutor(streams) as pool:
        list(pool.map(lambda _: client.completions.create(
            model=server["model"], prompt=random_prompt(16), max_tokens=tokens, temperature=0,
            extra_body={"ignore_eos": True}), range(streams)))
    seconds, count = (now - then for now, then in zip(gaps(), before))
    if count != streams * (tokens - 1):
        raise RuntimeError(f"{count:.0f} gaps between the tokens of {streams} answers of {tokens}")
    return streams * count / seconds


MEASURES = {
    "prefill 128": lambda server, client: prefill(server, client, 128),
    "prefill 1024": lambda server, client: prefill(server, client, 1024),
    "decode 1": lambda server, client: decode(server, client, 1, 65),
    "decode 4": lambda server, client: decode(server, client, 4, 49),
    "decode 16": lambda server, client: decode(server, client, 16, 49),
}


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    import openai

    samples: dict[tuple[str, str], list[float]] = {}
    for turn in range(plan["rounds"] + 1):
        for name, server in plan["servers"].items():
            client = openai.OpenAI(base_url=f"{server['url']}/v1", api_key="none", timeout=600, max_retries=0)
            os.killpg(server["group"], signal.SIGCONT)
            for what, how in MEASURES.items():
                value = how(server, client)
                if turn:  # the first round warms up
                    samples.setdefault((name, what), []).append(value)
            os.killpg(server["group"], signal.SIGSTOP)
            print(f"round {turn} of {plan['rounds']}: {name}", flush=True)
    return [{"contestant": name, "measure": what, "tokens_per_second": statistics.median(values), "samples": values}
            for (name, what), values in samples.items()]


def with_ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Adds to each row ours over theirs: the median of the rounds' ratios."""
    ours = {row["measure"]: row["samples"] for row in rows if row["contestant"] == next(iter(CONTESTANTS))}
    for row in rows:
        row["ours_over_theirs"] = statistics.median(
            mine / theirs for mine, theirs in zip(ours[row["measure"]], row["samples"]))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, help="folder with smollm2-g64 and smollm2-bf16")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    parser.add_argument("--under", default="", metavar="CMD", help="run the measuring part under this command")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plan", type=Path, help=argparse.SUPPRESS)  # the measuring part, under CMD
    options = parser.parse_args()
    if options.plan:
        plan = json.loads(options.plan.read_text())
        options.plan.write_text(json.dumps(measure(plan)))
        return
    if not options.models:
        parser.error("--models is missing")

    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers = {}
        for number, (name, (folder, environment)) in enumerate(CONTESTANTS.items()):
            server = stack.enter_context(Server(
                options.models / folder, scratch / f"{number}.log",
                ["--no-enable-prefix-caching", *(["--enforce-eager"] if options.eager else [])], environment,
                track=False))
            is_ours = "radiance: " in server.output()
            if is_ours != (number == 0):
                raise SystemExit(f"{name}: {'our' if is_ours else 'not our'} method was chosen")
            print(f"{name}: started in {server.starting_seconds:.0f} s", flush=True)
            servers[name] = {"url": server.url, "model": server.name, "group": server.process.pid}
            os.killpg(server.process.pid, signal.SIGSTOP)
            stack.callback(os.killpg, server.process.pid, signal.SIGCONT)
        plan = scratch / "plan.json"
        plan.write_text(json.dumps({"rounds": options.rounds, "servers": servers}))
        subprocess.run([*shlex.split(options.under), sys.executable, __file__, "--plan", str(plan)], check=True)
        rows = with_ratios(json.loads(plan.read_text()))

    print(f"{'':32}" + "".join(f"{what:>22}" for what in MEASURES))
    for name in CONTESTANTS:
        mine = {row["measure"]: row for row in rows if row["contestant"] == name}
        print(f"{name:32}" + "".join(f"{mine[what]['tokens_per_second']:>12.1f} ({mine[what]['ours_over_theirs']:.2f}x) "
                                     for what in MEASURES))
    if options.json:
        about = report.provenance("serving-speed-1")
        about["command"] = about["command"].replace(f" --under {options.under}", "")
        report.write(options.json, {**about, "rounds": options.rounds, "compiled": not options.eager, "rows": rows})


if __name__ == "__main__":
    main()
