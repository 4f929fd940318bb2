"""A checkpoint folder, judged by the headers of its files before any of its weights are used.

Engines load what they recognise and skip the rest, so a missing shard or a half of a module ends as
uninitialised weights at full speed. Here everything that makes a quantized module is counted first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from radiance_autoround.scheme import (QuantizationSettings, Scheme, UnsupportedCheckpoint, in_numbered_block,
                                       without_model)

INDEX = "model.safetensors.index.json"
PARTS = ("qweight", "scales", "qzeros")
CODES_A_WORD = 8


@dataclass(frozen=True)
class Tensor:
    file: Path
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class QuantizedModule:
    name: str
    n: int
    k: int
    scheme: Scheme

    @property
    def group(self) -> int:
        """Consecutive k a scale covers, in numbers: -1 is all of K."""
        return self.k if self.scheme.group_size == -1 else self.scheme.group_size

    @property
    def scale_rows(self) -> int:
        return -(-self.k // self.group)


class CheckpointFolder:
    """The tensors of a folder of safetensors files, and what its configuration says of them."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.tensors: dict[str, Tensor] = {}
        for file in self._files():
            try:
                with safe_open(file, framework="pt") as opened:
                    for name in opened.keys():
                        part = opened.get_slice(name)
                        if name in self.tensors:
                            raise UnsupportedCheckpoint(
                                f"{name} lies in {self.tensors[name].file.name} and in {file.name}")
                        self.tensors[name] = Tensor(file, part.get_dtype(), tuple(part.get_shape()))
            except (OSError, SafetensorError) as error:
                raise UnsupportedCheckpoint(f"{file} cannot be read: {error}") from error
        self._check_index()

    def _files(self) -> list[Path]:
        self.index: dict[str, str] = {}
        if (self.path / INDEX).exists():
            self.index = read_json(self.path / INDEX).get("weight_map") or {}
            files = [self.path / name for name in sorted(set(self.index.values()))]
            for file in files:
                if not file.exists():
                    raise UnsupportedCheckpoint(
                        f"{file.name}, which {INDEX} names, is missing in {self.path}")
            return files
        files = sorted(self.path.glob("*.safetensors"))
        if not files:
            raise UnsupportedCheckpoint(f"{self.path} holds no .safetensors file")
        return files

    def _check_index(self) -> None:
        for name, file in self.index.items():
            if name not in self.tensors:
                raise UnsupportedCheckpoint(f"{name}, which {INDEX} puts into {file}, is in no file")

    @property
    def config(self) -> dict[str, Any]:
        return read_json(self.path / "config.json")

    def settings(self) -> QuantizationSettings:
        config = self.config
        found = config.get("quantization_config") or (config.get("text_config") or {}).get(
            "quantization_config")
        if found is None and (self.path / "quantize_config.json").exists():
            found = read_json(self.path / "quantize_config.json")
        if found is None:
            raise UnsupportedCheckpoint(f"{self.path / 'config.json'} has no quantization_config")
        return QuantizationSettings.from_config(found)

    def read(self, name: str) -> Any:
        """The tensor `name`, for torch."""
        with safe_open(self.tensors[name].file, framework="pt") as opened:
            return opened.get_tensor(name)

    # ---- modules ----

    def quantized_modules(self, settings: QuantizationSettings) -> list[QuantizedModule]:
        """Every module with packed weights, checked against its scheme. Raises UnsupportedCheckpoint:
        the first line names the module and the reason."""
        parts: dict[str, dict[str, Tensor]] = {}
        for name, tensor in self.tensors.items():
            module, _, part = name.rpartition(".")
            if part in PARTS or part == "g_idx":
                parts.setdefault(module, {})[part] = tensor
        modules = [self._module(name, found, settings) for name, found in sorted(parts.items())]
        for name in self._float_linears():
            if name not in parts and (scheme := settings.scheme_of(name)).quantized:
                raise UnsupportedCheckpoint(
                    f"{name}: the checkpoint holds a float weight, but {scheme.rule} says {scheme}")
        return modules

    def _float_linears(self) -> Iterator[str]:
        for name, tensor in self.tensors.items():
            module, _, part = name.rpartition(".")
            if part == "weight" and len(tensor.shape) == 2 and in_numbered_block(module):
                yield module

    def _module(self, name: str, found: Mapping[str, Tensor], settings: QuantizationSettings) -> QuantizedModule:
        missing = [part for part in PARTS if part not in found]
        if missing:
            raise UnsupportedCheckpoint(f"{name}: {' and '.join(missing)} missing beside {', '.join(found)}")
        if f"{name}.weight" in self.tensors:
            raise UnsupportedCheckpoint(f"{name}: the checkpoint holds both packed and float weights")
        scheme = settings.scheme_of(name)
        refuse_unsupported(name, scheme)
        if not scheme.quantized:
            raise UnsupportedCheckpoint(
                f"{name}: the checkpoint holds packed weights, but it is 16-bit: {scheme.rule}")
        if ".experts." in f".{name}.":
            raise UnsupportedCheckpoint(f"{name}: experts are not supported")
        qweight, scales, qzeros = (found[part] for part in PARTS)
        if qweight.dtype != "I32" or len(qweight.shape) != 2:
            raise UnsupportedCheckpoint(f"{name}: qweight is {qweight.dtype} {list(qweight.shape)}, "
                                        "supported is I32 [K / 8, N]")
        k, n = qweight.shape[0] * CODES_A_WORD, qweight.shape[1]
        module = QuantizedModule(name, n, k, scheme)
        for part, tensor, dtype, shape in (("scales", scales, "F16", (module.scale_rows, n)),
                                           ("qzeros", qzeros, "I32", (module.scale_rows, n // CODES_A_WORD))):
            if tensor.dtype != dtype or tensor.shape != shape:
                raise UnsupportedCheckpoint(
                    f"{name}: {part} is {tensor.dtype} {list(tensor.shape)}; for {n} x {k} in groups of "
                    f"{module.group} it must be {dtype} {list(shape)}")
        if "g_idx" in found:
            self._check_order(module)
        return module

    def _check_order(self, module: QuantizedModule) -> None:
        import torch

        order = self.read(f"{module.name}.g_idx")
        if not torch.equal(order.long(), torch.arange(module.k) // module.group):
            raise UnsupportedCheckpoint(
                f"{module.name}: g_idx permutes the inputs (desc_act), which is not supported")

    def unmatched(self, settings: QuantizationSettings) -> list[str]:
        """Keys of extra_config that no module of the folder has."""
        return settings.unmatched({without_model(name.rpartition(".")[0]) for name in self.tensors} |
                                  {name.rpartition(".")[0] for name in self.tensors})


def refuse_unsupported(name: str, scheme: Scheme) -> None:
    """Raises UnsupportedCheckpoint for a quantized layer that the kernels do not compute."""
    if not scheme.quantized:
        return
    if scheme.bits != 4:
        raise UnsupportedCheckpoint(f"{name}: {scheme.bits}-bit weights ({scheme.rule}), supported are 4 bits")
    if not scheme.sym:
        raise UnsupportedCheckpoint(f"{name}: asymmetric quantization ({scheme.rule}), supported is symmetric")
    if scheme.group_size != -1 and scheme.group_size % CODES_A_WORD:
        raise UnsupportedCheckpoint(
            f"{name}: group size {scheme.group_size} ({scheme.rule}), supported are multiples of 8 and -1")


def read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnsupportedCheckpoint(f"{path} cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise UnsupportedCheckpoint(f"{path} is no JSON object")
    return value
