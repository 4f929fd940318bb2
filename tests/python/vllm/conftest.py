"""What the tests against the real vLLM package share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(REPOSITORY / "tools/serve"), str(Path(__file__).parent)]
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--models", type=Path, help="folder with smollm2-bf16, smollm2-g128 and smollm2-g64")
    parser.addoption("--radiance", type=Path, default=REPOSITORY / "build/cli/radiance", help="the command")


@pytest.fixture(scope="session")
def radiance(request: pytest.FixtureRequest) -> Path:
    return request.config.getoption("--radiance")


@pytest.fixture(scope="session")
def models(request: pytest.FixtureRequest) -> Path:
    folder = request.config.getoption("--models")
    if folder is None:
        pytest.skip("no --models: tools/serve/make_models.sh makes them")
    return folder


@pytest.fixture(scope="module")
def vllm_config():
    """One process, one rank: enough for vLLM to make layers."""
    from vllm.config import VllmConfig, set_current_vllm_config
    from vllm.distributed import (cleanup_dist_env_and_memory, ensure_model_parallel_initialized,
                                  init_distributed_environment)

    import server

    with set_current_vllm_config(VllmConfig()) as config:
        init_distributed_environment(world_size=1, rank=0, local_rank=0, backend="gloo",
                                     distributed_init_method=f"tcp://127.0.0.1:{server.free_port()}")
        ensure_model_parallel_initialized(1, 1)
        yield config
        cleanup_dist_env_and_memory()  # another module may run a whole engine in this process
