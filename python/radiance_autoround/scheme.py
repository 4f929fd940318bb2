"""Which scheme a linear layer of a quantized checkpoint has, by its quantization_config alone.

auto-round and the engines that read its checkpoints disagree in the corners. Ours, the same as the C++
library's (checkpoint/scheme.hpp): the exact name first (with and without a leading "model."), then the
longest matching pattern among the keys of extra_config that contain a regex character, then the list of
blocks (a prefix matches only at a name boundary: "layers.1" is not "layers.10"), then the global scheme.
Modules outside the blocks are 16-bit, lm_head too unless it is listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

REGEX_CHARACTERS = frozenset(r"*+?^$()[]{}|\\")
MODEL = "model."
# Vision towers and multi-token prediction have numbered blocks too, which nobody means by "the blocks".
OUTSIDE = ("visual", "vision_tower", "vision_model", "mtp")


class UnsupportedCheckpoint(ValueError):
    """A checkpoint, layer or setting that cannot be computed as it says. One sentence: what and why."""


@dataclass(frozen=True)
class Scheme:
    """How one module's weight is stored. `rule` says which part of the configuration decided."""

    bits: int
    group_size: int  # consecutive k a scale covers; -1: all of K
    sym: bool = True
    rule: str = ""

    @property
    def quantized(self) -> bool:
        return self.bits < 16

    def same_format(self, other: Scheme) -> bool:
        return (self.bits, self.group_size, self.sym) == (other.bits, other.group_size, other.sym)

    def __str__(self) -> str:
        if not self.quantized:
            return "16 bits"
        return f"{self.bits} bits, group {self.group_size}, {'symmetric' if self.sym else 'asymmetric'}"


def unquantized(rule: str) -> Scheme:
    return Scheme(16, -1, True, rule)


def without_model(name: str) -> str:
    return name.removeprefix(MODEL)


def is_below(name: str, prefix: str) -> bool:
    """Whether `name` is the prefix or lies below it in the tree of modules."""
    return name == prefix or name.startswith(prefix + ".")


def in_numbered_block(name: str) -> bool:
    """Where a configuration that lists no blocks quantizes: "model.layers.3.mlp.up_proj"."""
    if any(is_below(without_model(name), outside) for outside in OUTSIDE):
        return False
    return re.search(r"(?:^|\.)(?:layers|h|blocks)\.\d+\.", name) is not None


def flattened(value: Any) -> list[str]:
    """A list of names, nested lists flattened; a string is split at commas, as auto-round does."""
    if value is None:
        return []
    if isinstance(value, str):
        return [name for part in value.split(",") if (name := part.strip().rstrip("."))]
    if isinstance(value, Iterable):
        return [name for entry in value for name in flattened(entry)]
    raise UnsupportedCheckpoint(f"quantization_config lists {value!r} among module names")


def integer(config: Mapping[str, Any], key: str, default: int, where: str) -> int:
    value = config.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnsupportedCheckpoint(f"{where}: {key} is {value!r}, not a whole number")
    return value


@dataclass(frozen=True)
class QuantizationSettings:
    """A quantization_config whose codes and zeros lie as GPTQ's do: auto_round:auto_gptq or gptq."""

    quant_method: str
    bits: int
    group_size: int
    sym: bool
    zero_bias: int  # what qzeros lack of the zero itself: 1 in GPTQ's first format, 0 in gptq_v2
    desc_act: bool = False
    lm_head: bool = False
    blocks: tuple[str, ...] = ()
    only_modules: tuple[str, ...] = ()
    extra_config: Mapping[str, Mapping[str, Any]] | None = None

    @property
    def zero_word(self) -> int:
        """The word of qzeros that says eight times "zero 8": symmetric."""
        return 0x11111111 * (8 - self.zero_bias)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> QuantizationSettings:
        """Reads the object without changing it. Bits other than 4 are a layer's verdict, not an error."""
        where = "quantization_config"
        method = config.get("quant_method") or "gptq"  # AutoGPTQ's own file predates the field
        zero_bias, blocks, extra = 1, [], None
        if method in ("auto-round", "auto_round", "intel/auto-round"):
            packing = config.get("packing_format") or config.get("backend") or "auto_round"
            if packing not in ("auto_round:auto_gptq", "auto_round:gptq"):
                raise UnsupportedCheckpoint(
                    f"{where}: packing_format is {packing!r}, supported is 'auto_round:auto_gptq'")
            data_type = config.get("data_type") or "int"
            if data_type != "int" and not str(data_type).startswith("int_"):
                raise UnsupportedCheckpoint(f"{where}: data_type is {data_type!r}, supported is 'int'")
            if config.get("rotation_config"):
                raise UnsupportedCheckpoint(f"{where}: rotation_config changes the weights' meaning")
            blocks = flattened(config.get("block_name_to_quantize")) or flattened(
                config.get("to_quant_block_names"))
            extra = config.get("extra_config")
            if extra is not None and not (isinstance(extra, Mapping) and
                                          all(isinstance(entry, Mapping) for entry in extra.values())):
                raise UnsupportedCheckpoint(f"{where}: extra_config does not map names to settings")
        elif method == "gptq":
            form = config.get("checkpoint_format") or "gptq"
            if form not in ("gptq", "gptq_v2"):
                raise UnsupportedCheckpoint(
                    f"{where}: checkpoint_format is {form!r}, supported are 'gptq' and 'gptq_v2'")
            if config.get("dynamic"):
                raise UnsupportedCheckpoint(f"{where}: dynamic gives layers settings of their own")
            zero_bias = 1 if form == "gptq" else 0
        else:
            raise UnsupportedCheckpoint(
                f"{where}: quant_method is {method!r}, supported are 'auto-round' and 'gptq'")
        bits = integer(config, "bits", 0, where)
        if not 1 <= bits <= 16:
            raise UnsupportedCheckpoint(f"{where}: bits is {config.get('bits')!r}, supported is 4")
        group = integer(config, "group_size", -1, where)
        if group != -1 and group < 1:
            raise UnsupportedCheckpoint(f"{where}: group_size is {group}, supported are multiples of 8 and -1")
        return cls(quant_method=method, bits=bits, group_size=group, sym=bool(config.get("sym", True)),
                   zero_bias=zero_bias, desc_act=bool(config.get("desc_act", False)),
                   lm_head=bool(config.get("lm_head", False)), blocks=tuple(blocks),
                   only_modules=tuple(flattened(config.get("modules_in_block_to_quantize"))),
                   extra_config=dict(extra) if extra else None)

    def renamed(self, rename: Callable[[str], str | None]) -> QuantizationSettings:
        """The same settings for modules that an engine renames. Patterns keep their text: they are
        searched in the module's name, of which they usually hold the end."""
        def name_of(name: str) -> str:  # rules are for tensors: the one for "lm_head." is meant for lm_head too
            return (rename(name + ".") or name).rstrip(".")

        extra = self.extra_config and {
            key if is_pattern(key) else name_of(key): entry for key, entry in self.extra_config.items()}
        return replace(self, blocks=tuple(map(name_of, self.blocks)), extra_config=extra)

    # ---- one module ----

    def _entry(self, name: str) -> tuple[str, Mapping[str, Any]] | None:
        extra = self.extra_config or {}
        for key in (name, without_model(name), MODEL + name):
            if key in extra:
                return key, extra[key]
        found = [key for key in extra if is_pattern(key) and pattern(key).search(name)]
        return max(((key, extra[key]) for key in found), key=lambda pair: len(pair[0]), default=None)

    def in_blocks(self, name: str) -> bool:
        if not self.blocks:
            return in_numbered_block(name)
        return any(is_below(without_model(name), without_model(block)) for block in self.blocks)

    def scheme_of(self, name: str, fused: Mapping[str, Sequence[str]] | None = None) -> Scheme:
        """The scheme of the module `name`; of a fused one ("qkv_proj": its last name is a key of `fused`)
        the common scheme of its members. Raises UnsupportedCheckpoint when members differ."""
        everywhere = Scheme(self.bits, self.group_size, self.sym, "the global scheme")
        if (entry := self._entry(name)) is not None:
            key, values = entry
            where = f"extra_config entry {key!r}"
            bits = integer(values, "bits", 0, where)
            is_float = str(values.get("data_type", "int")).startswith("fp")
            if bits >= 16 or (is_float and not bits):
                return unquantized(where)
            return Scheme(bits or self.bits, integer(values, "group_size", self.group_size, where),
                          bool(values.get("sym", self.sym)), where)
        parent, _, last = name.rpartition(".")
        members = (fused or {}).get(last)
        # A model may list an unfused layer as its own only member.
        if members and list(members) != [last]:
            names = [f"{parent}.{member}" if parent else member for member in members]
            schemes = [self.scheme_of(member) for member in names]
            for member, scheme in zip(names, schemes):
                if not scheme.same_format(schemes[0]):
                    raise UnsupportedCheckpoint(
                        f"{name}: its members {names[0]} ({schemes[0]}) and {member} ({scheme}) have "
                        "different schemes; supported are equal ones")
            return schemes[0]
        if last == "lm_head":
            return replace(everywhere, rule="lm_head") if self.lm_head else unquantized("lm_head is not listed")
        if not self.in_blocks(name):
            return unquantized("outside the quantized blocks")
        if self.only_modules and not any(f".{part}." in f".{name}." for part in self.only_modules):
            return unquantized("not in modules_in_block_to_quantize")
        return everywhere

    def unmatched(self, names: Iterable[str]) -> list[str]:
        """The keys of extra_config that name none of these modules."""
        names = list(names)
        bare = {without_model(name) for name in names}
        return [key for key in self.extra_config or ()
                if not (any(pattern(key).search(name) for name in names) if is_pattern(key)
                        else without_model(key) in bare)]


def is_pattern(key: str) -> bool:
    """Whether auto-round reads this key as a regular expression: '.' alone is in every name."""
    return any(character in REGEX_CHARACTERS for character in key)


def pattern(key: str) -> re.Pattern[str]:
    try:
        return re.compile(key)
    except re.error as error:
        raise UnsupportedCheckpoint(f"extra_config: {key!r} is no regular expression: {error}") from error
