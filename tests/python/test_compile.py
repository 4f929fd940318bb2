"""Under torch.compile: one graph whatever the number of tokens is."""

import pytest
import torch

import radiance_autoround

# What torch's own default needs a C++ compiler for is not the subject; the GPU's tests use it.
BACKEND = "aot_eager"


class Model(torch.nn.Module):
    def __init__(self, problem, second):
        super().__init__()
        self.up = radiance_autoround.AutoRoundLinear(problem.qweight, problem.scales, problem.group, problem.bias, name="up")
        self.down = radiance_autoround.AutoRoundLinear(second.qweight, second.scales, second.group, name="down")

    def forward(self, x):
        return self.down(torch.nn.functional.silu(self.up(x))) + x


@pytest.fixture
def model(draw, device):
    return Model(draw(384, 256, 64, bias=True, device=device), draw(256, 384, 128, device=device)).to(device)


def test_one_graph_for_every_number_of_tokens(model, device):
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph

    compiled = torch.compile(model, fullgraph=True, dynamic=True, backend=backend)
    for m in (2, 3, 17, 64, 200):
        x = torch.randn(m, 256, device=device, dtype=torch.bfloat16)
        assert torch.equal(compiled(x), model(x))
    assert len(graphs) == 1
    called = [node.target for node in graphs[0].graph.nodes if node.op == "call_function"]
    assert called.count(torch.ops.radiance.packed_linear) + called.count(torch.ops.radiance.packed_linear.default) == 2


def test_through_aot_autograd(model, device):
    compiled = torch.compile(model, fullgraph=True, dynamic=True, backend=BACKEND)
    with torch.inference_mode():
        for m in (1, 2, 5, 33):
            x = torch.randn(m, 256, device=device, dtype=torch.bfloat16)
            assert torch.equal(compiled(x), model(x))


def test_through_inductor(model, device):
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, dynamic=True)
    with torch.inference_mode():
        for m in (2, 9, 40):
            x = torch.randn(m, 256, device=device, dtype=torch.bfloat16)
            # Inductor's own fusions round elsewhere; the layer is the same.
            torch.testing.assert_close(compiled(x), model(x), rtol=2e-2, atol=2e-2)


def test_autoround_linear_in_a_graph(draw, device):
    problem = draw(96, 256, 32, 4, bias=True, device=device)

    @torch.compile(fullgraph=True, dynamic=True, backend=BACKEND)
    def layer(x):
        return torch.ops.radiance.autoround_linear(x, problem.qweight, problem.scales, 32, problem.bias)

    for m in (2, 3, 4):
        problem.check(layer(problem.x[:m]), problem.x[:m])


def test_the_fake_refuses_what_the_operator_refuses(draw):
    problem = draw(96, 256, 32)
    with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True) as mode:
        x, qweight, scales = map(mode.from_tensor, (problem.x, problem.qweight, problem.scales))
        y = torch.ops.radiance.autoround_linear(x, qweight, scales, 32)
        assert (y.shape, y.dtype) == ((1, 96), torch.bfloat16)
        with pytest.raises(RuntimeError, match="scales"):
            torch.ops.radiance.autoround_linear(x, qweight, scales, 64)
        with pytest.raises(RuntimeError, match="K = 256"):
            torch.ops.radiance.autoround_linear(x[:, :128], qweight, scales, 32)
