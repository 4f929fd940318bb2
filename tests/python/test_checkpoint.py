"""Folders that hold too little, too much, or something else than they say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from safetensors.torch import save_file  # noqa: E402

from radiance_autoround.checkpoint import CheckpointFolder  # noqa: E402
from radiance_autoround.scheme import UnsupportedCheckpoint  # noqa: E402

DATA = Path(__file__).resolve().parents[1] / "data"
NAME = "model.layers.0.mlp.down_proj"
CONFIG = {"quant_method": "auto-round", "packing_format": "auto_round:auto_gptq", "bits": 4, "group_size": 128, "sym": True,
          "block_name_to_quantize": "model.layers"}


def packed(n: int = 64, k: int = 320, group: int = 128, name: str = NAME) -> dict:
    rows = -(-k // group)
    return {f"{name}.qweight": torch.zeros(k // 8, n, dtype=torch.int32),
            f"{name}.scales": torch.ones(rows, n, dtype=torch.float16),
            f"{name}.qzeros": torch.full((rows, n // 8), 0x77777777, dtype=torch.int32)}


def folder(path: Path, tensors: dict, config: dict | None = None) -> CheckpointFolder:
    (path / "config.json").write_text(json.dumps({"quantization_config": {**CONFIG, **(config or {})}}))
    save_file(tensors, path / "model.safetensors")
    return CheckpointFolder(path)


def modules(checkpoint: CheckpointFolder) -> list:
    return checkpoint.quantized_modules(checkpoint.settings())


def refused(path: Path, tensors: dict, reason: str, config: dict | None = None) -> None:
    with pytest.raises(UnsupportedCheckpoint, match=f"^{NAME}: {reason}"):
        modules(folder(path, tensors, config))


@pytest.mark.parametrize(("group", "short"), [(128, 6), (64, 0)])
def test_a_layer_of_a_real_checkpoint(group: int, short: int) -> None:
    checkpoint = CheckpointFolder(DATA / f"smollm2-135m-instruct-layer0-g{group}")
    found = modules(checkpoint)
    assert len(found) == 7 and {module.group for module in found} == {group}
    assert sum(module.k % group != 0 for module in found) == short
    assert checkpoint.unmatched(checkpoint.settings()) == []


def test_a_good_module(tmp_path: Path) -> None:
    (module,) = modules(folder(tmp_path, packed()))
    assert (module.name, module.n, module.k, module.group, module.scale_rows) == (NAME, 64, 320, 128, 3)


def test_one_group(tmp_path: Path) -> None:
    (module,) = modules(folder(tmp_path, packed(group=320), {"group_size": -1}))
    assert (module.group, module.scale_rows) == (320, 1)


@pytest.mark.parametrize("part", ["qweight", "scales", "qzeros"])
def test_a_part_is_missing(part: str, tmp_path: Path) -> None:
    tensors = packed()
    del tensors[f"{NAME}.{part}"]
    refused(tmp_path, tensors, f"{part} missing beside")


def test_floors_of_the_last_group(tmp_path: Path) -> None:
    tensors = packed()
    tensors[f"{NAME}.scales"] = tensors[f"{NAME}.scales"][:2].contiguous()
    refused(tmp_path, tensors, r"scales is F16 \[2, 64\]; .* must be F16 \[3, 64\]")


def test_scales_of_another_type(tmp_path: Path) -> None:
    tensors = packed()
    tensors[f"{NAME}.scales"] = tensors[f"{NAME}.scales"].bfloat16()
    refused(tmp_path, tensors, r"scales is BF16")


def test_a_float_weight_where_the_scheme_is_quantized(tmp_path: Path) -> None:
    refused(tmp_path, {f"{NAME}.weight": torch.zeros(64, 320)}, "the checkpoint holds a float weight")


def test_packed_weights_where_the_scheme_is_16_bit(tmp_path: Path) -> None:
    refused(tmp_path, packed(), "the checkpoint holds packed weights", {"extra_config": {NAME: {"bits": 16}}})


def test_both(tmp_path: Path) -> None:
    refused(tmp_path, {**packed(), f"{NAME}.weight": torch.zeros(64, 320)}, "the checkpoint holds both")


@pytest.mark.parametrize(("entry", "reason"), [({"bits": 8}, "8-bit weights"), ({"sym": False}, "asymmetric"),
                                               ({"group_size": 20}, "group size 20")])
def test_what_the_kernels_do_not_compute(entry: dict, reason: str, tmp_path: Path) -> None:
    refused(tmp_path, packed(), reason, {"extra_config": {NAME: entry}})


def test_experts(tmp_path: Path) -> None:
    name = "model.layers.0.mlp.experts.3.down_proj"
    with pytest.raises(UnsupportedCheckpoint, match=f"^{name}: experts are not supported"):
        modules(folder(tmp_path, packed(name=name)))


def test_the_order_of_inputs(tmp_path: Path) -> None:
    order = torch.arange(320, dtype=torch.int32) // 128
    gptq = {"quant_method": "gptq", "desc_act": True}
    assert len(modules(folder(tmp_path, {**packed(), f"{NAME}.g_idx": order}, gptq))) == 1
    order[[5, 300]] = order[[300, 5]]
    refused(tmp_path, {**packed(), f"{NAME}.g_idx": order}, "g_idx permutes", gptq)


def test_shards(tmp_path: Path) -> None:
    folder(tmp_path, packed())
    index = {name: "model.safetensors" for name in packed()}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    assert len(modules(CheckpointFolder(tmp_path))) == 1
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {**index, "x": "model.safetensors"}}))
    with pytest.raises(UnsupportedCheckpoint, match="^x, which .* puts into model.safetensors, is in no file"):
        CheckpointFolder(tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {**index, "x": "gone.safetensors"}}))
    with pytest.raises(UnsupportedCheckpoint, match="^gone.safetensors, .* is missing"):
        CheckpointFolder(tmp_path)
    (tmp_path / "model.safetensors.index.json").unlink()
    save_file(packed(), tmp_path / "second.safetensors")
    with pytest.raises(UnsupportedCheckpoint, match=f"^{NAME}.* lies in model.safetensors and in second.safetensors"):
        CheckpointFolder(tmp_path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedCheckpoint, match="holds no .safetensors file"):
        CheckpointFolder(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 100)
    with pytest.raises(UnsupportedCheckpoint, match="model.safetensors cannot be read"):
        CheckpointFolder(tmp_path)


def test_keys_that_name_nothing(tmp_path: Path) -> None:
    checkpoint = folder(tmp_path, packed(), {"extra_config": {NAME: {"bits": 4}, "model.layers.9.x": {"bits": 16},
                                                              r".*nowhere.*": {"bits": 16}, r".*down_proj": {"bits": 4}}})
    assert checkpoint.unmatched(checkpoint.settings()) == ["model.layers.9.x", ".*nowhere.*"]
