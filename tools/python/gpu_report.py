#!/usr/bin/env python3
"""Writes what run_on_gpu.sh saw as one results file: every test with its outcome, and the operator's overhead.

  gpu_report.py TESTS.xml OVERHEAD.json OUTPUT.json     TESTS.xml is pytest's --junitxml
"""

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "serve"))
import report  # noqa: E402


def tests(path: Path) -> list[dict]:
    rows = []
    for case in ElementTree.parse(path).iter("testcase"):
        outcomes = {child.tag for child in case} & {"failure", "error", "skipped"}
        rows.append({"file": case.get("classname").replace(".", "/") + ".py", "name": case.get("name"),
                     "seconds": round(float(case.get("time")), 2),
                     "status": "skipped" if outcomes == {"skipped"} else "failed" if outcomes else "passed"})
    return rows


def main() -> None:
    xml, overhead, output = map(Path, sys.argv[1:])
    cases = tests(xml)
    about = json.loads(overhead.read_text(encoding="utf-8"))
    counts = {status: sum(case["status"] == status for case in cases) for status in ("passed", "failed", "skipped")}
    report.write(output, {**about, "schema": "radiance/gpu-python/1", "command": "tools/python/run_on_gpu.sh", **counts,
                          "cases": cases})


if __name__ == "__main__":
    main()
