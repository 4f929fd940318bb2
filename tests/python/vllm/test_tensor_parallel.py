"""Two ranks, two processes, vLLM's own communication: the shapes of the seed's checkpoint, and right sums."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("vllm")

RANK = Path(__file__).parent / "tensor_parallel_rank.py"
# The rounding of the activations to fp8 is in it; a shard at a wrong offset is off by more than 1.
FP8_ERROR = 0.04


@pytest.fixture(scope="module")
def ranks() -> list[dict]:
    import server

    port = server.free_port()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "LOCAL_WORLD_SIZE": "2",
                   "VLLM_DIST_IDENT": str(port)}  # as vLLM's worker for CPUs sets it
    processes = [subprocess.Popen([sys.executable, str(RANK), str(rank), str(port)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=environment) for rank in range(2)]
    reports = []
    try:
        for process in processes:
            output, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors[-3000:]
            reports.append(json.loads(output.strip().splitlines()[-1]))
    finally:
        for process in processes:  # one waits for the other
            process.kill()
    return reports


def test_shapes_of_the_target_model(ranks: list[dict]) -> None:
    for report in ranks:
        assert report["down_proj"] == {"qweight": [1088, 5120], "scales": [68, 5120], "qzeros": [68, 640]}
        assert report["gate_up_proj"] == {"qweight": [64, 1024], "scales": [4, 1024], "qzeros": [4, 128]}


def test_one_group_of_all_inputs_has_its_scales_on_every_rank(ranks: list[dict]) -> None:
    for report in ranks:
        assert report["one group"] == {"qweight": [128, 256], "scales": [1, 256], "qzeros": [1, 32]}


@pytest.mark.parametrize("layer", ["down_proj", "one group", "gate_up_proj", "gathered"])
def test_the_ranks_compute_the_whole_layer(layer: str, ranks: list[dict]) -> None:
    assert max(report[f"{layer} error"] for report in ranks) < FP8_ERROR
