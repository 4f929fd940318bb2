#!/usr/bin/env python3
"""Runs `radiance gate --device cuda:0` under compute-sanitizer and sums up what it finds.

  sanitize_sm90.py [--radiance PATH] [--sanitizer PATH] [--suites LIST] [--tools LIST] [--seconds N]
                   [--logs FOLDER] [--json FILE]

Tools: memcheck (accesses out of bounds or misaligned, leaks of kernels), initcheck (reads of memory that
nobody wrote), synccheck (barriers used wrongly), racecheck (shared memory that threads access without
an order between them). Findings are grouped by what they say and by the source lines; a build with
-DRADIANCE_CUDA_LINE_INFO=ON has lines. Exit status: 0 clean, 1 findings, failed cases or a tool that
did not finish, 2 no compute-sanitizer.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

TOOLS = ["memcheck", "initcheck", "synccheck", "racecheck"]
# Each kernel on each kind of weight, with rings of stages that turn; sums shared by blocks.
SUITES = "configs,order"
PREFIX = "========="
PLACE = re.compile(r"\b(?:at|in)\s+(.+?)\+0x[0-9a-f]+(?: in (\S+:\d+))?")
THREAD = re.compile(r"(\w+) Thread \((\d+),|by thread \((\d+),")
SUMMARY = re.compile(r"SUMMARY: (\d+)")
CASES = re.compile(r"^(\d+) passed, (\d+) failed", re.MULTILINE)


def function_name(text):
    """A name without its return type, arguments and namespace: they are long and say nothing here."""
    text = re.sub(r"\(.*", "", text.replace("(radiance::sm90::ScaleKind)", ""))
    return text.split("::")[-1].split()[-1] if text.split() else text


def findings_of(log):
    """What the tool says, grouped: a list of {what, places, count, lanes, example}."""
    groups = {}
    block = []
    for line in log.splitlines() + [PREFIX]:
        text = line[len(PREFIX):] if line.startswith(PREFIX) else None
        if text is None or text.strip() == "COMPUTE-SANITIZER":
            continue
        if text.strip():
            block.append(text)
            continue
        add_block(groups, block)
        block = []
    return sorted(groups.values(), key=lambda group: -group["count"])


def add_block(groups, block):
    if not block or len(block) < 2 or "SUMMARY" in block[0]:
        return
    what = re.sub(r"0x[0-9a-f]+", "…", re.sub(r"\(\d+,\d+,\d+\)", "…", block[0].strip()))
    places, lanes = [], {}
    for line in block[1:]:
        if "Saved host backtrace" in line:
            break
        place = PLACE.search(line)
        role = line.split(" Thread ")[0].strip() if " Thread (" in line else ""
        if place:
            where = f"{function_name(place.group(1))} {place.group(2) or ''}".strip()
            places.append(f"{role} {where}".strip().lower() if role else where)
        thread = THREAD.search(line)
        if thread:
            lanes.setdefault((thread.group(1) or "").lower(), set()).add(
                int(thread.group(2) or thread.group(3)) % 32)
    group = groups.setdefault((what, tuple(places)),
                              {"what": what, "places": places, "count": 0, "lanes": {},
                               "example": [line.strip() for line in block[:5]]})
    group["count"] += 1
    for role, numbers in lanes.items():
        group["lanes"][role] = sorted(set(group["lanes"].get(role, [])) | numbers)


def run_tool(options, tool, folder):
    report = folder / f"{tool}.json"
    command = [options.sanitizer, "--tool", tool, "--print-limit", "1000", "--show-backtrace", "no"]
    if tool == "racecheck":
        command += ["--racecheck-report", "all"]
    command += [options.radiance, "gate", "--device", "cuda:0", "--suite", options.suites, "--json",
                str(report)]
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=options.seconds, check=False)
        log, finished = done.stdout, True
    except subprocess.TimeoutExpired as expired:
        log, finished = (expired.stdout or b"").decode(errors="replace"), False
    seconds = time.monotonic() - start
    if options.logs:
        pathlib.Path(options.logs).mkdir(parents=True, exist_ok=True)
        (pathlib.Path(options.logs) / f"{tool}.log").write_text(log, encoding="utf-8")
    cases = CASES.search(log)
    summaries = [int(count) for count in SUMMARY.findall(log)]
    row = {"tool": tool, "suites": options.suites, "seconds": round(seconds, 1), "finished": finished,
           "passed": int(cases.group(1)) if cases else None,
           "failed": int(cases.group(2)) if cases else None,
           "found": max(summaries) if summaries else None, "findings": findings_of(log)}
    if not cases and not summaries:
        row["said"] = log.strip()[-500:]
    header = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    return row, {key: header.get(key) for key in ("schema", "commit", "compiler", "driver", "device",
                                                  "arch", "seed")}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--radiance", default="build/cli/radiance")
    parser.add_argument("--sanitizer", default=shutil.which("compute-sanitizer") or
                        "/usr/local/cuda/bin/compute-sanitizer")
    parser.add_argument("--suites", default=SUITES)
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--seconds", type=float, default=120, help="a tool gets at most")
    parser.add_argument("--logs", help="a folder for what the tools print")
    parser.add_argument("--json", dest="output")
    options = parser.parse_args()
    if not os.access(options.sanitizer, os.X_OK):
        print("sanitize_sm90.py: no compute-sanitizer here (--sanitizer PATH)", file=sys.stderr)
        return 2
    rows, header = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for tool in options.tools.split(","):
            row, found_header = run_tool(options, tool, pathlib.Path(folder))
            header = found_header if found_header["commit"] else header or found_header
            rows.append(row)
            print(f"{tool}: {row['found']} found, {row['passed']} passed, {row['failed']} failed, "
                  f"{row['seconds']} s{'' if row['finished'] else ', not finished'}", flush=True)
            for finding in row["findings"][:20]:
                lanes = {role: f"{len(numbers)} lanes{'' if 0 in numbers else ', never lane 0'}"
                         for role, numbers in finding["lanes"].items()}
                print(f"  {finding['count']} times: {finding['what']} {finding['places']} {lanes}")
            if "said" in row:
                print(row["said"])
            if options.output:
                report = {**header, "command": "tools/sanitize_sm90.py --suites " + options.suites +
                          " --tools " + options.tools, "rows": rows}
                pathlib.Path(options.output).write_text(json.dumps(report, indent=2) + "\n",
                                                        encoding="utf-8")
    clean = all(row["finished"] and row["found"] == 0 and row["failed"] == 0 for row in rows)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
