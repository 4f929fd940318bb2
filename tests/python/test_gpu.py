"""What only a GPU has: captured graphs, streams that run side by side. Skipped by name where there is none."""

import subprocess
import sys

import pytest
import torch

import radiance_autoround

packed_linear = torch.ops.radiance.packed_linear


@pytest.fixture
def layer(draw, cuda):
    problem = draw(640, 512, 128, 32, device=cuda)
    return problem, radiance_autoround.pack(problem.qweight, problem.scales, 128, name="captured")


def test_a_captured_graph_is_replayed(layer):
    problem, packed = layer
    radiance_autoround.reserve(32, "cuda")
    for m in (1, 8, 32):
        x = torch.zeros(m, 512, device="cuda", dtype=torch.bfloat16)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = packed_linear(x, packed, 640)
            y = packed_linear(y[:, :512], packed, 640)
        for _ in range(3):
            x.copy_(problem.x[:m] * torch.rand((), device="cuda"))
            graph.replay()
            expected = packed_linear(packed_linear(x, packed, 640)[:, :512], packed, 640)
            assert torch.equal(y, expected)


def test_a_capture_allocates_nothing_of_ours_and_does_not_wait(layer):
    problem, packed = layer
    radiance_autoround.reserve(32, "cuda")
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    y = torch.empty(32, 640, device="cuda", dtype=torch.bfloat16)
    pool = torch.cuda.graph_pool_handle()
    with torch.cuda.graph(graph, pool=pool, stream=stream):
        torch.cuda.set_sync_debug_mode("error")
        try:
            y.copy_(packed_linear(problem.x, packed, 640))
        finally:
            torch.cuda.set_sync_debug_mode("default")
    # Torch's own pool for the graph, in whose steps of 2 MB and more the output lies; none for scratch.
    assert before - torch.cuda.mem_get_info()[0] <= 32 << 20
    graph.replay()
    problem.check(y)


def test_a_capture_without_scratch_is_an_error(layer):
    program = """
import torch, radiance_autoround
qweight = torch.zeros(64, 640, dtype=torch.int32)
packed = radiance_autoround.pack(qweight, torch.ones(4, 640).half(), 128, "cuda")
x = torch.ones(4, 512, device="cuda", dtype=torch.bfloat16)
graph = torch.cuda.CUDAGraph()
try:
    with torch.cuda.graph(graph):
        torch.ops.radiance.packed_linear(x, packed, 640)
except radiance_autoround.RadianceError as error:
    assert "reserve(max_m, device)" in str(error), error
else:
    raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_one_call_before_is_enough_scratch(layer):
    problem, packed = layer
    problem.check(packed_linear(problem.x, packed, 640))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):  # on a stream of its own, which has not been seen
        y = packed_linear(problem.x, packed, 640)
    graph.replay()
    problem.check(y)


def test_graphs_of_two_streams_run_at_the_same_time(draw, cuda):
    problem = draw(5120, 8704, 128, 16, device=cuda)
    packed = radiance_autoround.pack(problem.qweight, problem.scales, 128)
    expected = packed_linear(problem.x, packed, 5120)
    radiance_autoround.reserve(16, cuda, streams=3)
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    graphs, outputs = [], []
    for stream in streams:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            outputs.append([packed_linear(problem.x, packed, 5120) for _ in range(4)])
        graphs.append(graph)
    torch.cuda.synchronize()
    for _ in range(50):
        for stream, graph in zip(streams, graphs):
            with torch.cuda.stream(stream):
                graph.replay()
    torch.cuda.synchronize()
    for ys in outputs:
        assert all(torch.equal(y, expected) for y in ys)


def test_two_streams_without_graphs(draw, cuda):
    problem = draw(5120, 8704, 128, 16, device=cuda)
    packed = radiance_autoround.pack(problem.qweight, problem.scales, 128)
    expected = packed_linear(problem.x, packed, 5120)
    torch.cuda.synchronize()
    streams, outputs = [torch.cuda.Stream() for _ in range(2)], []
    for _ in range(100):
        for stream in streams:
            with torch.cuda.stream(stream):
                outputs.append(packed_linear(problem.x, packed, 5120))
    torch.cuda.synchronize()
    assert all(torch.equal(y, expected) for y in outputs)


class Twice(torch.nn.Module):
    """A module: its buffers keep their place, where a graph copies a tensor that is passed to it."""

    def __init__(self, packed):
        super().__init__()
        self.layer = radiance_autoround.AutoRoundLinear.from_packed(packed)

    def forward(self, x):
        return self.layer(torch.nn.functional.silu(self.layer(x)[:, :512]))


def test_compiled_with_captured_graphs(layer):
    problem, packed = layer
    torch._dynamo.reset()
    twice = Twice(packed)
    compiled = torch.compile(twice, fullgraph=True, mode="reduce-overhead")
    radiance_autoround.reserve(32, "cuda", streams=3)
    with torch.inference_mode():
        for _ in range(5):
            torch.testing.assert_close(compiled(problem.x).clone(), twice(problem.x), rtol=2e-2, atol=2e-2)


def test_layers_of_different_widths_share_a_stream(draw, cuda):
    """And its workspace: the counters of one must not lie where another leaves its sums (a call then never ended)."""
    layers = []
    for n, k, m in ((640, 1024, 32), (5120, 2048, 1), (17408, 512, 16), (64, 4096, 64), (200, 120, 3)):
        problem = draw(n, k, 40 if k == 120 else 128, m, device=cuda)
        packed = radiance_autoround.pack(problem.qweight, problem.scales, problem.group)
        layers.append((problem, packed, n))
    for _ in range(2):
        for problem, packed, n in (*layers, *reversed(layers)):
            problem.check(packed_linear(problem.x, packed, n))


def test_cpu_activations_do_not_meet_a_weight_on_the_gpu(layer):
    problem, packed = layer
    with pytest.raises(RuntimeError, match="captured: x is on cpu, the weight on cuda:0"):
        packed_linear(problem.x.cpu(), packed, 640)


def test_a_weight_for_the_cpu_is_refused_on_the_gpu(draw, cuda):
    problem = draw(640, 512, 128, 4)
    packed = radiance_autoround.pack(problem.qweight, problem.scales, 128, "cpu").to(cuda)
    with pytest.raises(RuntimeError, match="packed for cpu"):
        packed_linear(problem.x.to(cuda), packed, 640)


def test_the_larger_batch_that_was_not_reserved(layer, draw, cuda):
    problem, packed = layer
    larger = draw(640, 512, 128, 700, device=cuda)
    packed = radiance_autoround.pack(larger.qweight, larger.scales, 128)
    larger.check(packed_linear(larger.x, packed, 640))
