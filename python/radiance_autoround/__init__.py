"""Int4 checkpoints of AutoRound as W4A8 linear layers for torch.

Importing it registers torch.ops.radiance.autoround_linear and torch.ops.radiance.packed_linear.
"""

from radiance_autoround._library import RadianceError
from radiance_autoround.devices import reserve, set_cpu_threads
from radiance_autoround.linear import AutoRoundLinear
from radiance_autoround import op as _op  # registers the operators
from radiance_autoround.packing import pack, pack_mxfp4
from radiance_autoround.weights import call_counts, explain, forget, register, reset_call_counts

__all__ = ["AutoRoundLinear", "RadianceError", "call_counts", "explain", "forget", "load_linears", "pack",
           "pack_mxfp4", "register", "reserve", "reset_call_counts", "set_cpu_threads"]
__version__ = "0.1.0"


def load_linears(*arguments, **named):
    """See radiance_autoround.loader, which needs safetensors: imported when it is used."""
    from radiance_autoround.loader import load_linears as load

    return load(*arguments, **named)
