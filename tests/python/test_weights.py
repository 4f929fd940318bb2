"""Which memory holds which weight, whatever happens to tensors; and the counts."""

import copy
import gc

import torch

import radiance_autoround
from radiance_autoround import weights

packed_linear = torch.ops.radiance.packed_linear


def packed_problem(draw, n, k, group, device, **named):
    problem = draw(n, k, group, 4, device=device, **named)
    return problem, radiance_autoround.pack(problem.qweight, problem.scales, group)


def test_memory_that_is_used_again_is_another_weight(draw, device):
    seen = set()
    for n in (64, 32, 64, 128, 64, 32) * 5:
        problem, packed = packed_problem(draw, n, 256, 64, device)
        seen.add(packed.data_ptr())
        copied = packed.clone()  # torch's allocator hands the same memory out again
        seen.add(copied.data_ptr())
        problem.check(packed_linear(problem.x, packed, n))
        problem.check(packed_linear(problem.x, copied, n))
        del packed, copied
    assert len(seen) < 60


def test_what_is_known_of_freed_weights_goes(draw, device):
    gc.collect()  # the models of other tests
    problem, kept = packed_problem(draw, 64, 256, 64, device)
    before = len(weights.live_weights())
    others = [packed_problem(draw, 64, 256, 64, device)[1] for _ in range(5)]
    assert len(weights.live_weights()) == before + 5
    del others
    gc.collect()
    assert len(weights.live_weights()) == before
    problem.check(packed_linear(problem.x, kept, 64))


def test_a_weight_lives_in_parameters_views_and_copies(draw, device):
    problem, packed = packed_problem(draw, 64, 256, 64, device)
    module = torch.nn.Module()
    module.packed = torch.nn.Parameter(packed, requires_grad=False)
    del packed
    for tensor in (module.packed, module.packed.data, module.packed.view(-1), copy.deepcopy(module).packed):
        problem.check(packed_linear(problem.x, tensor, 64))


def test_a_weight_that_is_written_in_place_after_registering_again(draw, device):
    problem, packed = packed_problem(draw, 64, 256, 64, device)
    other, wanted = packed_problem(draw, 64, 256, 32, device)
    problem.check(packed_linear(problem.x, packed, 64))
    if wanted.numel() == packed.numel():
        packed.copy_(wanted)
    else:
        room = torch.empty(max(wanted.numel(), packed.numel()), dtype=torch.uint8, device=device)
        room[:packed.numel()] = packed
        packed = room[:packed.numel()]
        problem.check(packed_linear(problem.x, packed, 64))
        room[:wanted.numel()] = wanted
        packed = room[:wanted.numel()]
    radiance_autoround.register(packed, "again")
    other.check(packed_linear(other.x, packed, 64))


def test_a_checkpoint_weight_that_is_written_in_place(draw, device):
    first = draw(64, 256, 64, 4, device=device)
    second = draw(64, 256, 64, 4, device=device)
    call = torch.ops.radiance.autoround_linear
    first.check(call(first.x, first.qweight, first.scales, 64))
    kept = first.qweight.clone(), first.scales.clone()
    first.qweight.copy_(second.qweight)
    first.scales.copy_(second.scales)
    second.check(call(second.x, first.qweight, first.scales, 64))
    first.qweight.data.copy_(kept[0])  # torch counts no version for this
    first.scales.data.copy_(kept[1])
    radiance_autoround.forget(first.qweight)
    first.check(call(first.x, first.qweight, first.scales, 64))


def test_counts_and_explanation(draw, device):
    problem, packed = packed_problem(draw, 64, 256, 64, device)
    radiance_autoround.register(packed, "model.layers.3.mlp.up_proj")
    radiance_autoround.reset_call_counts()
    for m in (1, 2, 4):
        packed_linear(problem.x[:m], packed, 64)
    packed_linear(problem.x[:0], packed, 64)
    count = next(count for count in radiance_autoround.call_counts() if count.name == "model.layers.3.mlp.up_proj")
    assert (count.calls, count.rows, count.n, count.k, count.group) == (3, 7, 64, 256, 64)
    assert count.format == "autoround_int4" and count.device.startswith(device.type)
    assert radiance_autoround.explain(packed, 1)
    assert radiance_autoround.explain(packed, 1) != radiance_autoround.explain(packed, 500)
