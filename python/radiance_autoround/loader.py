"""Models of transformers over an int4 checkpoint, for people who do not serve.

    model = radiance_autoround.load_model("/models/Qwen3.5-27B-int4", device="cuda")

Every quantized linear becomes an AutoRoundLinear, everything else is read as the checkpoint has it. A tensor that
nothing reads and a parameter that nothing fills stop the load: the first line says which.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from radiance_autoround.checkpoint import PARTS, CheckpointFolder, QuantizedModule
from radiance_autoround.linear import AutoRoundLinear
from radiance_autoround.scheme import QuantizationSettings, UnsupportedCheckpoint

LISTED = 5  # names in a message
DEEPER = "model.language_model."


def load_model(folder: str | Path, device: torch.device | str = "cpu", dtype: torch.dtype | None = None,
               model_class: Any = None) -> torch.nn.Module:
    """The model of a checkpoint folder, on one device, ready to run. `model_class` is a class of transformers with
    from_config: AutoModelForCausalLM if none is given. `dtype` is that of the parts that are not quantized."""
    import transformers

    config = transformers.AutoConfig.from_pretrained(folder)
    for part in (config, getattr(config, "text_config", None)):
        if hasattr(part, "quantization_config"):
            del part.quantization_config  # or transformers looks for a quantizer of its own
    if dtype is None:
        dtype = getattr(config, "dtype", None) or torch.bfloat16
    with MatricesWithoutMemory():
        model = (model_class or transformers.AutoModelForCausalLM).from_config(config, dtype=dtype)
    load_linears(model, folder, device)
    return model.eval()


def load_linears(model: torch.nn.Module, folder: str | Path, device: torch.device | str = "cpu") -> list[str]:
    """Replaces the linears of `model` that the folder quantizes, fills the rest of the model from it, and moves all to
    the device. Returns the names of the replaced. Raises UnsupportedCheckpoint, and leaves the model half filled then."""
    device = torch.device(device)
    checkpoint = CheckpointFolder(folder)
    settings = checkpoint.settings()
    modules = checkpoint.quantized_modules(settings)
    if not modules:
        raise UnsupportedCheckpoint(f"{checkpoint.path}: no layer is quantized")
    read: set[str] = set()
    for module in modules:
        replace(model, checkpoint, settings, module, device, read)
    fill(model, checkpoint, device, read)
    return [module.name for module in modules]


class MatricesWithoutMemory(TorchFunctionMode):
    """Weights of two and more dimensions, which torch's modules make by torch.empty, are made without memory: they
    come from the checkpoint. Everything smaller and whatever is computed (rotary frequencies) is real."""

    def __torch_function__(self, function: Any, types: Any, arguments: tuple = (), named: dict | None = None) -> Any:
        named = dict(named or {})
        if function is torch.empty and not isinstance(arguments[0] if arguments else None, torch.Tensor):
            size = arguments[0] if arguments and isinstance(arguments[0], (tuple, list)) else arguments
            if len(size) >= 2:
                named["device"] = "meta"
        return function(*arguments, **named)


def replace(model: torch.nn.Module, checkpoint: CheckpointFolder, settings: QuantizationSettings,
            module: QuantizedModule, device: torch.device, read: set[str]) -> None:
    name, place = module.name, name_in(model, module.name)
    try:
        linear = model.get_submodule(place)
    except AttributeError:
        if is_ignored(model, f"{name}.qweight"):
            return
        raise UnsupportedCheckpoint(f"{name}: the checkpoint quantizes it, the model has no such layer") from None
    if not isinstance(linear, torch.nn.Linear):
        raise UnsupportedCheckpoint(f"{name}: the checkpoint quantizes it, in the model it is a {type(linear).__name__}")
    if (linear.out_features, linear.in_features) != (module.n, module.k):
        raise UnsupportedCheckpoint(f"{name}: the checkpoint's weight is {module.n} x {module.k} (N x K), the model's "
                                    f"{linear.out_features} x {linear.in_features}")
    require_symmetric(name, checkpoint.read(f"{name}.qzeros"), settings)
    read.update(f"{name}.{part}" for part in (*PARTS, "g_idx"))
    bias = None
    if linear.bias is not None:
        if f"{name}.bias" not in checkpoint.tensors:
            raise UnsupportedCheckpoint(f"{name}: the model has a bias, the checkpoint has none")
        bias = checkpoint.read(f"{name}.bias").to(linear.bias.dtype)
        read.add(f"{name}.bias")
    ours = AutoRoundLinear(checkpoint.read(f"{name}.qweight"), checkpoint.read(f"{name}.scales"), module.scheme.group_size,
                           bias, device=device, name=name)
    parent, _, last = place.rpartition(".")
    setattr(model.get_submodule(parent), last, ours)


def require_symmetric(name: str, qzeros: torch.Tensor, settings: QuantizationSettings) -> None:
    word = settings.zero_word
    wrong = ((qzeros.long() & 0xFFFFFFFF) != word).nonzero()
    if len(wrong):
        row, column = wrong[0].tolist()
        raise UnsupportedCheckpoint(
            f"{name}: asymmetric zeros, qzeros[{row}][{column}] is 0x{int(qzeros[row, column]) & 0xFFFFFFFF:08x} where "
            f"0x{word:08x} means symmetric")


def fill(model: torch.nn.Module, checkpoint: CheckpointFolder, device: torch.device, read: set[str]) -> None:
    """Everything that is not quantized."""
    ours = {name for name, module in model.named_modules() if isinstance(module, AutoRoundLinear)}
    # state_dict, not named_parameters: it has persistent buffers too, and both names of what is tied.
    wanted = {name: tensor for name, tensor in model.state_dict().items() if name.rpartition(".")[0] not in ours}
    stored = {name_in(model, name): name for name in checkpoint.tensors}
    found: dict[str, torch.Tensor] = {}
    for name, target in wanted.items():
        if name in stored:
            tensor = checkpoint.read(stored[name])
            read.add(stored[name])
            if tensor.shape != target.shape:
                raise UnsupportedCheckpoint(f"{name}: the checkpoint's tensor is {list(tensor.shape)}, the model's "
                                            f"{list(target.shape)}")
            found[name] = tensor.to(device=device, dtype=target.dtype)
    model.load_state_dict(found, strict=False, assign=True)
    if hasattr(model, "tie_weights"):
        model.tie_weights()
    tied = {tensor.data_ptr() for tensor in found.values()}
    state = model.state_dict()
    missing = [name for name in wanted if name not in found and
               (state[name].is_meta or state[name].data_ptr() not in tied)]
    missing += [name for name, buffer in model.named_buffers() if buffer.is_meta]
    if missing:
        raise UnsupportedCheckpoint(f"{missing[0]}: the checkpoint has no such tensor{others(missing)}")
    unread = [name for name in checkpoint.tensors if name not in read and not is_ignored(model, name)]
    if unread:
        raise UnsupportedCheckpoint(f"{unread[0]}: nothing in the model reads this tensor{others(unread)}")
    model.to(device)  # buffers that no checkpoint has


def name_in(model: torch.nn.Module, name: str) -> str:
    """The model's name for a module or tensor of the checkpoint: those of models that see as well as read have their
    language model one level deeper than the class for text alone."""
    if name.startswith(DEEPER) and not hasattr(getattr(model, "model", None), "language_model"):
        return "model." + name.removeprefix(DEEPER)
    return name


def is_ignored(model: torch.nn.Module, name: str) -> bool:
    """Whether the model's own class says that a checkpoint may hold this and it needs none of it."""
    patterns = getattr(model, "_keys_to_ignore_on_load_unexpected", None) or ()
    return any(re.search(pattern, name) for pattern in patterns)


def others(names: list[str]) -> str:
    if len(names) == 1:
        return ""
    rest = names[1:LISTED + 1]
    return f"; nor {', '.join(rest)}" + (f" and {len(names) - 1 - len(rest)} more" if len(names) - 1 > len(rest) else "")
