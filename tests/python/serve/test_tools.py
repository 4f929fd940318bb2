"""The parts of the serving tools that need no server, and what run_autoround.sh would run."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/serve"))

import accepted_tokens  # noqa: E402
import gsm8k  # noqa: E402
import perplexity  # noqa: E402
import prompts  # noqa: E402


def test_perplexity_and_its_uncertainty() -> None:
    row = perplexity.summary([[-1.0, -3.0], [-2.0, -4.0]])
    assert row["tokens"] == 4 and row["nll"] == 2.5
    assert row["perplexity"] == pytest.approx(math.exp(2.5))
    assert row["nll_error"] == pytest.approx(0.5)  # deviation 1 / sqrt(2), of two windows
    better = perplexity.difference([[-1.0, -3.0], [-2.0, -4.0]], [[-1.0, -2.0], [-2.0, -3.0]])
    assert better == {"nll": 0.5, "error": 0.0}


def test_windows_are_whole() -> None:
    def tokenizer(text: str, add_special_tokens: bool) -> dict:
        return {"input_ids": list(range(len(text)))}

    assert perplexity.windows_of("x" * 10, tokenizer, 4) == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize(("text", "number"), [
    ("so it is #### 1,234", 1234), ("12 and then -3.50 dollars.", Fraction(-7, 2)), ("none", None), ("$18.00", 18)])
def test_numbers_in_answers(text: str, number) -> None:
    assert gsm8k.last_number(text) == number


def test_questions(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps({"question": "1 + 1?", "answer": "It is 2.\n#### 2"}) + "\n\n")
    assert gsm8k.read_questions(file) == [{"question": "1 + 1?", "answer": "It is 2.\n#### 2"}]
    file.write_text('{"question": "?"}\n')
    with pytest.raises(SystemExit, match="q.jsonl:1: not a GSM8K line"):
        gsm8k.read_questions(file)
    assert [part["role"] for part in gsm8k.messages([{"question": "a", "answer": "b"}], "c")] == [
        "system", "user", "assistant", "user"]


def test_first_difference() -> None:
    assert prompts.first_difference([1, 2, 3], [1, 2, 3]) is None
    assert prompts.first_difference([1, 2, 3], [1, 4, 3]) == 1
    assert prompts.first_difference([1, 2], [1, 2, 3]) == 2
    assert len(set(prompts.PROMPTS)) == 16


def test_accepted_tokens() -> None:
    text = '\n'.join(['# HELP x', 'vllm:spec_decode_num_drafts_total{engine="0"} 10.0',
                      'vllm:spec_decode_num_draft_tokens_total{engine="0"} 40.0',
                      'vllm:spec_decode_num_accepted_tokens_total{engine="0"} 25.0',
                      'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"} 9.0'])
    now = accepted_tokens.parsed(text)
    before = dict.fromkeys(now, 0.0)
    assert accepted_tokens.line(before, now) == (
        "speculation: 2.50 accepted tokens a draft of 4.0 (62 %), over 10 drafts")
    assert accepted_tokens.line(now, now) is None
    assert accepted_tokens.parsed("") == before


# ---- run_autoround.sh ----


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"0" * 2**20)
    return tmp_path


def launch(*arguments: str, dry: str = "1") -> subprocess.CompletedProcess:
    return subprocess.run([str(ROOT / "run_autoround.sh"), *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "DRY_RUN": dry})


def test_help() -> None:
    done = launch("--help", dry="")
    assert done.returncode == 0 and done.stdout.startswith("usage: run_autoround.sh")


@pytest.mark.parametrize(("device", "expected"), [("cpu", "VLLM_CPU_KVCACHE_SPACE="), ("h200", "--gpu-memory-utilization"),
                                                  ("r9700", "--gpu-memory-utilization")])
def test_what_would_run(device: str, expected: str, checkpoint: Path) -> None:
    done = launch("--device", device, str(checkpoint), "--port", "8123", "--", "--enforce-eager")
    assert done.returncode == 0, done.stderr
    command = done.stdout.splitlines()[-1]
    assert expected in command and "--port 8123" in command and command.rstrip().endswith("--enforce-eager")
    assert "enable_weights_track" in command and str(checkpoint) in command


def test_speculation(checkpoint: Path) -> None:
    assert '"mtp"' in launch("--device", "cpu", "--mtp", "3", str(checkpoint)).stdout.replace("\\", "")
    drafted = launch("--device", "cpu", "--drafter", str(checkpoint), "--draft", "2", str(checkpoint))
    assert f'{{"model": "{checkpoint}", "num_speculative_tokens": 2}}' in drafted.stdout.replace("\\", "")


@pytest.mark.parametrize(("arguments", "reason"), [
    ([], "usage"), (["/nowhere"], "/nowhere: no folder with a config.json"), (["--port"], "--port needs a value"),
    (["--what"], "there is no option --what"), (["--device", "tpu"], "--device tpu: known are"),
    (["--mtp", "x"], "--mtp x: not a positive number"), (["--device", "cpu", "--tp", "2"], "--tp 2: a processor is one device")])
def test_what_cannot_run(arguments: list[str], reason: str, checkpoint: Path) -> None:
    needs = arguments and arguments[0] not in ("/nowhere", "--port")
    done = launch(*arguments, *([str(checkpoint)] if needs else []))
    assert done.returncode == 2 and reason in done.stderr
