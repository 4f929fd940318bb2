"""The vLLM plugin: int4 checkpoints of auto-round and GPTQ, computed by Radiance.

vLLM finds `register` under the entry point group vllm.general_plugins and calls it once in every process.
Nothing else is needed: no patch, no sitecustomize, no option.
"""


def register() -> None:
    """Makes the method known. Cheap, and harmless when called again."""
    from radiance_autoround.vllm.config import METHOD, RadianceConfig
    from vllm.model_executor.layers.quantization import QUANTIZATION_METHODS, register_quantization_config

    if METHOD not in QUANTIZATION_METHODS:
        register_quantization_config(METHOD)(RadianceConfig)
