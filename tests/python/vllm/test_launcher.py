"""run_autoround.sh from start to end: it serves, is asked, speculates, and stops."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("vllm")
pytest.importorskip("openai")

ROOT = Path(__file__).resolve().parents[3]
STARTING_SECONDS = 300


@contextmanager
def launched(log: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen, object]]:
    """The launcher, and a client of the server that it started."""
    import openai
    from server import free_port

    port = free_port()
    environment = {name: value for name, value in os.environ.items() if name != "DRY_RUN"}
    environment.update(VLLM_CPU_KVCACHE_SPACE="1", OMP_NUM_THREADS="2")
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [str(ROOT / "run_autoround.sh"), "--device", "cpu", "--venv", sys.prefix, "--port", str(port), "--max-len", "512",
             *arguments], stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
    try:
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", timeout=120, max_retries=0)
        end = time.monotonic() + STARTING_SECONDS
        while True:
            assert process.poll() is None and time.monotonic() < end, log.read_text()[-4000:]
            try:
                client.models.list()
                break
            except openai.APIConnectionError:
                time.sleep(0.5)
        yield process, client
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def stop(process: subprocess.Popen) -> None:
    """By a signal to the launcher alone, as a service manager sends it; nothing of its session may stay."""
    process.terminate()
    process.wait(60)
    end = time.monotonic() + 30
    while subprocess.run(["pgrep", "-s", str(process.pid)], stdout=subprocess.DEVNULL).returncode == 0:
        assert time.monotonic() < end, subprocess.run(["ps", "-o", "pid,args", "-s", str(process.pid)], text=True,
                                                      capture_output=True).stdout
        time.sleep(0.2)


def test_serves_and_prints_accepted_tokens(models: Path, tmp_path: Path) -> None:
    """vLLM's own options pass through; the speculation needs no second model."""
    log = tmp_path / "log"
    ngrams = '{"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 3, "prompt_lookup_min": 1}'
    with launched(log, str(models / "smollm2-g64"), "--", "--enforce-eager", "--served-model-name", "smol",
                  "--speculative-config", ngrams) as (process, client):
        assert [model.id for model in client.models.list().data] == ["smol"]
        answer = client.completions.create(model="smol", prompt="one two three four one two three four one two three four one two",
                                           max_tokens=40, temperature=0, extra_body={"ignore_eos": True})
        assert answer.usage.completion_tokens == 40
        end = time.monotonic() + 30
        while not (lines := re.findall(r"speculation: (\S+) accepted tokens a draft of (\S+) \(.* %\), over (\d+) drafts",
                                       log.read_text())):
            assert time.monotonic() < end, log.read_text()[-3000:]
            time.sleep(0.5)
        accepted, drafted, drafts = map(float, lines[0])
        assert 0 < accepted <= drafted <= 3 and drafts >= 1
        stop(process)
    text = log.read_text()
    assert "radiance: 960 x 576 in groups of 64 on cpu" in text
    assert re.search(r"\d+ processors, \d+ MiB of memory free", text)


def test_serves_without_speculation(models: Path, tmp_path: Path) -> None:
    with launched(tmp_path / "log", str(models / "smollm2-g64"), "--", "--enforce-eager") as (process, client):
        name = client.models.list().data[0].id
        answer = client.chat.completions.create(model=name, max_tokens=8, temperature=0, messages=[
            {"role": "user", "content": "What is the capital of France?"}])
        assert "Paris" in answer.choices[0].message.content
        stop(process)
