"""Several threads, several streams, a forked process: scratch is nobody else's."""

import os
import threading

import torch

import radiance_autoround

packed_linear = torch.ops.radiance.packed_linear


def test_threads_do_not_disturb_each_other(draw, device):
    problems = [draw(640, 512, 128, m, device=device) for m in (1, 5, 40)]
    layers = [(p.x, radiance_autoround.pack(p.qweight, p.scales, 128)) for p in problems]
    expected = [packed_linear(x, packed, 640) for x, packed in layers]
    wrong = []

    def work(first):
        # A stream of its own, as a server's worker has.
        with torch.cuda.stream(torch.cuda.Stream()) if device.type == "cuda" else torch.no_grad():
            for i in range(60):
                x, packed = layers[(first + i) % 3]
                if not torch.equal(packed_linear(x, packed, 640), expected[(first + i) % 3]):
                    wrong.append((first, i))

    if device.type == "cuda":
        torch.cuda.synchronize()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    for problem, y in zip(problems, expected):
        problem.check(y)


def test_counts_of_several_threads_add_up(draw):
    problem = draw(32, 64, 32)
    packed = radiance_autoround.pack(problem.qweight, problem.scales, 32, name="counted")
    threads = [threading.Thread(target=lambda: [packed_linear(problem.x, packed, 32) for _ in range(500)])
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert next(c.calls for c in radiance_autoround.call_counts() if c.name == "counted") == 2000


def test_in_a_forked_process(draw):
    problem = draw(640, 512, 128, 40)
    packed = radiance_autoround.pack(problem.qweight, problem.scales, 128)
    expected = packed_linear(problem.x, packed, 640)  # the parent's pool is running
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if packed_linear(problem.x, packed, 640).view(torch.int16).equal(expected.view(torch.int16)) else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert torch.equal(packed_linear(problem.x, packed, 640), expected)


def test_threads_run_on_every_processor_even_if_this_one_is_pinned():
    import subprocess
    import sys

    program = """
import os, torch, threading
everywhere = os.sched_getaffinity(0)
waiting = threading.Event()
threading.Thread(target=waiting.wait, daemon=True).start()  # keeps its processors
os.sched_setaffinity(0, {min(everywhere)})  # as engines pin their threads
import radiance_autoround
from radiance_autoround.devices import device_of
torch.set_num_threads(3)
before = set(os.listdir("/proc/self/task"))
device_of("cpu")
new = set(os.listdir("/proc/self/task")) - before
assert len(new) == 2, new
assert all(os.sched_getaffinity(int(task)) == everywhere for task in new)
assert os.sched_getaffinity(0) == {min(everywhere)}
"""
    subprocess.run([sys.executable, "-c", program], check=True)
