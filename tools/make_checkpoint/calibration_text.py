"""Write the calibration samples and the held-out evaluation texts from Debian's public-domain texts.

Calibration: the King James Bible (bible-kjv-text), Genesis to Malachi, cut into samples spread evenly over it.
Evaluation, never calibrated on: the Gospel of Mark, and the Constitution of the United States (miscfiles).
"""

import argparse
import gzip
import json
import re
import subprocess
from pathlib import Path

from step import fail, write_text_whole

CONSTITUTION = Path("/usr/share/state/us-constitution.gz")
# English has about four bytes a token, so this many bytes hold more than 512 tokens.
SAMPLE_BYTES = 4096
SAMPLE_COUNT = 512


def bible(verses: str) -> str:
    """The text of a range of verses, a space between them, without their numbers."""
    try:
        printed = subprocess.run(["bible", "-f", verses], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        fail(f"the program 'bible' (Debian package bible-kjv) could not print {verses}: {error}")
    return " ".join(re.sub(r"^\S+:\d+ ", "", line) for line in printed.splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="folder for calibration.json and evaluation.json")
    arguments = parser.parse_args()

    text = bible("Gen1:1-Mal4:6")
    if len(text) < SAMPLE_BYTES * SAMPLE_COUNT:
        fail(f"the Old Testament has {len(text)} bytes, {SAMPLE_BYTES * SAMPLE_COUNT} are needed")
    stride = len(text) // SAMPLE_COUNT
    # Start each sample at a sentence, not within a word.
    starts = [text.index(". ", i * stride) + 2 for i in range(SAMPLE_COUNT)]
    # A fixed odd step through them: the first n samples of any n cover the whole text.
    samples = [text[starts[i * 197 % SAMPLE_COUNT] :][:SAMPLE_BYTES] for i in range(SAMPLE_COUNT)]

    if not CONSTITUTION.exists():
        fail(f"{CONSTITUTION} (Debian package miscfiles) is missing")
    evaluation = {
        "kjv-mark": bible("Mark1:1-Mark16:20"),
        "us-constitution": " ".join(gzip.decompress(CONSTITUTION.read_bytes()).decode("latin-1").split()),
    }
    write_text_whole(arguments.output / "calibration.json", json.dumps(samples, indent=0) + "\n")
    write_text_whole(arguments.output / "evaluation.json", json.dumps(evaluation, indent=0) + "\n")
    print(f"{len(samples)} calibration samples; evaluation texts of {[len(t) for t in evaluation.values()]} bytes")


if __name__ == "__main__":
    main()
