"""What every step shares: one clear sentence on failure, and output that appears whole or not at all."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn


def fail(message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(1)


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """Yields an empty folder beside the target, which takes the target's name only when all went well."""
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    yield partial
    for path in partial.iterdir():
        path.chmod(0o644)  # safetensors lets only the owner read
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)


def write_text_whole(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    partial.write_text(text)
    os.replace(partial, target)
