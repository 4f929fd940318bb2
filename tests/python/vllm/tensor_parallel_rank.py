"""One of two ranks with a row-parallel and a column-parallel layer of the target model: run by test_tensor_parallel.

Prints one JSON line: the shapes of the parameters, and how far the output is from the whole layer's.
"""

from __future__ import annotations

import json
import sys

import torch
from vllm.config import VllmConfig, set_current_vllm_config
from vllm.distributed import ensure_model_parallel_initialized, init_distributed_environment
from vllm.model_executor.layers.linear import ColumnParallelLinear, MergedColumnParallelLinear, RowParallelLinear

from layers import BF16, auto_round, fill, finish, weight
from radiance_autoround import reference
from radiance_autoround.vllm.config import RadianceConfig

HIDDEN, FFN = 5120, 17408


def shapes(layer: torch.nn.Module) -> dict[str, list[int]]:
    return {name: list(param.shape) for name, param in layer.named_parameters()}


def error(y: torch.Tensor, x: torch.Tensor, tensors: dict[str, torch.Tensor], group: int,
          columns: slice = slice(None)) -> float:
    exact = x.float() @ reference.dequantized(tensors["qweight"][:, columns], tensors["scales"][:, columns], group).T
    return float((y.float() - exact).norm() / exact.norm())


def main(rank: int, port: int) -> None:
    with set_current_vllm_config(VllmConfig()):
        init_distributed_environment(world_size=2, rank=rank, local_rank=rank, backend="gloo",
                                     distributed_init_method=f"tcp://127.0.0.1:{port}")
        ensure_model_parallel_initialized(2, 1)
        quant = RadianceConfig.from_config(auto_round())
        whole = RadianceConfig.from_config(auto_round(group_size=-1))
        x = torch.randn(2, FFN, dtype=BF16, generator=torch.Generator().manual_seed(7))
        report: dict[str, object] = {}

        down = RowParallelLinear(FFN, HIDDEN, bias=False, params_dtype=BF16, quant_config=quant,
                                 prefix="model.layers.0.mlp.down_proj")
        report["down_proj"] = shapes(down)
        tensors = weight(HIDDEN, FFN)
        fill(down, tensors)
        finish(down)
        half = x[:, rank * FFN // 2:(rank + 1) * FFN // 2]
        report["down_proj error"] = error(down(half)[0], x, tensors, 128)

        one_group = RowParallelLinear(2048, 256, bias=False, params_dtype=BF16, quant_config=whole,
                                      prefix="model.layers.0.mlp.down_proj")
        report["one group"] = shapes(one_group)
        tensors = weight(256, 2048, -1)
        fill(one_group, tensors)
        finish(one_group)
        narrow = x[:, :2048]
        report["one group error"] = error(one_group(narrow[:, rank * 1024:(rank + 1) * 1024])[0], narrow, tensors, -1)

        gate_up = MergedColumnParallelLinear(512, [1024, 1024], bias=False, params_dtype=BF16, quant_config=quant,
                                             prefix="model.layers.0.mlp.gate_up_proj")
        report["gate_up_proj"] = shapes(gate_up)
        parts = [weight(1024, 512, seed=2), weight(1024, 512, seed=3)]
        for shard, tensors in enumerate(parts):
            fill(gate_up, tensors, shard)
        finish(gate_up)
        mine, thin = slice(rank * 512, rank * 512 + 512), x[:, :512]
        outputs = gate_up(thin)[0].split(512, dim=-1)
        report["gate_up_proj error"] = max(error(y, thin, tensors, 128, mine) for y, tensors in zip(outputs, parts))

        gathered = ColumnParallelLinear(512, 256, bias=False, gather_output=True, params_dtype=BF16,
                                        quant_config=quant, prefix="model.layers.0.self_attn.q_proj")
        tensors = weight(256, 512, seed=4)
        fill(gathered, tensors)
        finish(gathered)
        report["gathered error"] = error(gathered(thin)[0], thin, tensors, 128)
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
