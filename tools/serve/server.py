"""vLLM's OpenAI server, started for a checkpoint folder and stopped again: what tools and tests share."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

STARTING_SECONDS = 900  # torch.compile on two busy cores
# On a CPU: no thread is bound, so that OpenMP's threads and ours share all cores, and OpenMP's sleep when they have
# nothing to do: spinning, they keep ours from the core (decode ran at a quarter of the rate). And a small cache.
CPU_ENVIRONMENT = {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_WAIT_POLICY": "PASSIVE", "VLLM_CPU_KVCACHE_SPACE": "1",
                   "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
# Our method reads scales itself; for every other tensor vLLM's own check is turned on.
LOADER_OPTIONS = {"enable_weights_track": True}


def metric(url: str, name: str) -> float:
    """The sum of a server's metric over its labels."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=60) as answer:
        values = re.findall(rf"^{re.escape(name)}(?:\{{[^}}]*\}})? (\S+)$", answer.read().decode(), re.MULTILINE)
    if not values:
        raise RuntimeError(f"the server has no metric {name}")
    return sum(map(float, values))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """`with Server(folder, log) as server`: a server at server.url, its output in the file `log`."""

    def __init__(self, model: Path, log: Path, arguments: list[str] | None = None,
                 environment: dict[str, str] | None = None, track: bool = True):
        self.model, self.log, self.port = Path(model), Path(log), free_port()
        self.name = self.model.name
        self.command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model),
                        "--served-model-name", self.name, "--host", "127.0.0.1", "--port", str(self.port),
                        "--max-model-len", "2048", *(arguments or [])]
        if track:
            self.command += ["--model-loader-extra-config", json.dumps(LOADER_OPTIONS)]
        self.environment = {**os.environ, **CPU_ENVIRONMENT, **(environment or {})}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Server:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "w", encoding="utf-8") as output:
            self.process = subprocess.Popen(self.command, stdout=output, stderr=subprocess.STDOUT,
                                            env=self.environment, start_new_session=True)
        begin = time.monotonic()
        while time.monotonic() - begin < STARTING_SECONDS:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended while starting:\n{self.tail()}")
            try:
                self._get("/health")
                self.starting_seconds = time.monotonic() - begin
                return self
            except OSError:
                time.sleep(0.5)
        self.__exit__()
        raise RuntimeError(f"the server did not start in {STARTING_SECONDS} s:\n{self.tail()}")

    def __exit__(self, *_: Any) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            pass
        # The engine and its workers are in the session that was begun for them.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def tail(self, lines: int = 40) -> str:
        return "\n".join(self.output().splitlines()[-lines:])

    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def _get(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return answer.read().decode()

    def client(self) -> Any:
        import openai

        return openai.OpenAI(base_url=f"{self.url}/v1", api_key="none", timeout=600, max_retries=0)

    def metric(self, name: str) -> float:
        return metric(self.url, name)

    def call_workers(self, method: str) -> list[Any]:
        """What every worker's method returned; the server must run with VLLM_SERVER_DEV_MODE=1."""
        request = urllib.request.Request(f"{self.url}/collective_rpc", method="POST",
                                         data=json.dumps({"method": method}).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())["results"]
