"""Int4 checkpoints of AutoRound as W4A8 linear layers for torch.

Importing it registers torch.ops.radiance.autoround_linear and torch.ops.radiance.packed_linear.
"""

from radiance_autoround._library import RadianceError
from radiance_autoround.devices import reserve, set_cpu_threads
from radiance_autoround.linear import AutoRoundLinear
from radiance_autoround import op as _op  # registers the operators
from radiance_autoround.packing import pack, pack_mxfp4
from radiance_autoround.weights import call_counts, explain, forget, register, reset_call_counts

__all__ = ["AutoRoundLinear", "RadianceError", "call_counts", "explain", "forget", "load_linears", "load_model", "pack",
           "pack_mxfp4", "register", "reserve", "reset_call_counts", "set_cpu_threads"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    # The loader needs safetensors, which the operators do not.
    if name in ("load_linears", "load_model"):
        from radiance_autoround import loader

        return getattr(loader, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
