"""A tiny model of the target's architecture through vLLM, against its twin in transformers.

The twin dequantizes the weights and rounds the inputs of every linear layer as DESIGN section 3 says, in fp32.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

pytest.importorskip("vllm")

POSITIONS = 1000


def served_logits(folder: Path, tokens: list[int]) -> tuple[torch.Tensor, list]:
    """The logits that vLLM's own model computes at every position of a prompt, and the calls of our operator."""
    from vllm import LLM, SamplingParams
    from vllm.inputs import TokensPrompt

    import radiance_autoround

    llm = LLM(str(folder), skip_tokenizer_init=True, enforce_eager=True, max_model_len=2048,
              enable_prefix_caching=False, model_loader_extra_config={"enable_weights_track": True})
    hidden: list[torch.Tensor] = []

    def listen(model: torch.nn.Module) -> torch.Tensor:
        # The last norm sees every position; vLLM computes logits of the last one only.
        model.model.norm.register_forward_hook(lambda _module, _inputs, output: hidden.append(output[0].clone()))
        return model.lm_head.weight.detach().float()

    head = llm.apply_model(listen)[0]
    radiance_autoround.reset_call_counts()
    llm.generate(TokensPrompt(prompt_token_ids=tokens),
                 SamplingParams(max_tokens=1, temperature=0, detokenize=False), use_tqdm=False)
    assert len(hidden) == 1 and len(hidden[0]) == len(tokens)
    return hidden[0][:POSITIONS].float() @ head.T, radiance_autoround.call_counts()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory, radiance: Path) -> Path:
    import tiny_qwen35

    return tiny_qwen35.make(tmp_path_factory.mktemp("qwen35"), radiance)


@pytest.fixture(scope="module")
def tokens() -> list[int]:
    import tiny_qwen35

    return torch.randint(3, tiny_qwen35.VOCABULARY, (POSITIONS + 1,), generator=torch.Generator().manual_seed(1)).tolist()


@pytest.fixture(scope="module")
def in_process():
    """vLLM in this process, so that the model can be looked into; no thread is bound, other tests run here too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        patch.setitem(os.environ, "VLLM_CPU_OMP_THREADS_BIND", "nobind")
        patch.setitem(os.environ, "VLLM_CPU_KVCACHE_SPACE", "1")
        yield


@pytest.fixture(scope="module")
def served(tiny: Path, tokens: list[int], in_process) -> tuple[torch.Tensor, list]:
    return served_logits(tiny, tokens)


def twin_logits(folder: Path, tokens: list[int], change=lambda model: None) -> torch.Tensor:
    import local_model

    model = local_model.load(folder, "fp8", torch.float32)
    change(model)
    with torch.inference_mode():
        return model(torch.tensor([tokens]), use_cache=False).logits[0, :-1]


def relative(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    return float((ours - theirs).norm() / theirs.norm())


def test_every_quantized_layer_is_ours(served: tuple[torch.Tensor, list]) -> None:
    # Layers of an earlier test's model may still be held, by what torch compiled: they are not called.
    counts = {count.name: count.calls for count in served[1] if count.calls}
    fused = ["mlp.gate_up_proj", "mlp.down_proj"]
    expected = {f"model.layers.{layer}.{name}" for layer in range(3)
                for name in [*fused, "linear_attn.in_proj_qkvz", "linear_attn.out_proj"]}
    expected |= {f"model.layers.3.{name}" for name in [*fused, "self_attn.qkv_proj", "self_attn.o_proj"]}
    assert set(counts) == expected
    assert set(counts.values()) == {1}  # one step: the prompt


def test_logits_are_the_twins(served: tuple[torch.Tensor, list], tiny: Path, tokens: list[int]) -> None:
    logits = served[0]
    twin = twin_logits(tiny, tokens)
    agreement = float((logits.argmax(-1) == twin.argmax(-1)).float().mean())
    print(f"relative difference {relative(logits, twin):.1e}, the same first choice at {100 * agreement:.1f} %")
    assert len(twin) == POSITIONS
    assert relative(logits, twin) < 1e-2
    assert agreement >= 0.97


def test_a_wrong_layer_would_be_seen(served: tuple[torch.Tensor, list], tiny: Path, tokens: list[int]) -> None:
    def negate(model: torch.nn.Module) -> None:
        model.model.layers[1].linear_attn.out_proj.exact_weight.neg_()

    assert relative(served[0], twin_logits(tiny, tokens, negate)) > 1e-2


def test_the_layer_for_multi_token_prediction_speculates(tiny: Path, tokens: list[int], in_process) -> None:
    """Its weights are random, so hardly any token is accepted; but it is loaded, runs, and changes no answer."""
    from vllm import LLM, SamplingParams
    from vllm.inputs import TokensPrompt

    def answer(**options) -> tuple[list[int], float]:
        llm = LLM(str(tiny), skip_tokenizer_init=True, enforce_eager=True, max_model_len=2048,
                  enable_prefix_caching=False, disable_log_stats=False, **options)
        output = llm.generate(TokensPrompt(prompt_token_ids=tokens[:50]), use_tqdm=False, sampling_params=SamplingParams(
            max_tokens=24, temperature=0, detokenize=False, ignore_eos=True))[0].outputs[0]
        drafts = [metric.value for metric in llm.get_metrics() if metric.name == "vllm:spec_decode_num_drafts"]
        return list(output.token_ids), sum(drafts)

    alone, _ = answer()
    speculated, drafts = answer(speculative_config={"method": "mtp", "num_speculative_tokens": 2})
    assert drafts > 0
    assert speculated[:8] == alone[:8]  # later ones may part where two choices are nearly as good
