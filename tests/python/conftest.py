import secrets

import pytest
import torch

from problem import Problem


def gpu_missing():
    """Why the tests on a GPU cannot run here; None if they can."""
    if not torch.cuda.is_available():
        return "no GPU that this torch can use"
    import radiance_autoround
    from radiance_autoround.devices import device_of

    try:
        device_of("cuda")
    except radiance_autoround.RadianceError as error:
        return str(error)
    return None


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    """Both kinds of tensors; the GPU's tests are skipped by name where there is none."""
    if request.param == "cuda" and (reason := gpu_missing()):
        pytest.skip(reason)
    return torch.device(request.param)


@pytest.fixture
def cuda():
    if reason := gpu_missing():
        pytest.skip(reason)
    return torch.device("cuda")


@pytest.fixture
def draw(request):
    """Makes problems from a seed of this run, which a failure shows."""
    seed = secrets.randbits(31)
    print(f"seed {seed}")
    generator = torch.Generator().manual_seed(seed)

    def make(*arguments, **named):
        return Problem(generator, *arguments, **named)

    return make
