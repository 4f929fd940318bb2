"""The library's devices behind torch's, and the scratch that its kernels need: one workspace a stream.

On the CPU the caller's thread is the stream, so the workspace is the thread's own. On a GPU it belongs to the
pair of device and stream. A workspace that grew is never freed: a captured graph may still name the old one.
"""

from __future__ import annotations

import os
import threading
from ctypes import byref, c_size_t

import torch

from radiance_autoround._library import LIBRARY, Handle, RadianceError, check

_lock = threading.RLock()
_devices: dict[torch.device, Device] = {}
_cpu_threads = 0


class Workspace:
    """Zeroed device memory; freed with the object."""

    def __init__(self, handle: Handle, size: int, stream: int = 0):
        self._handle, self._process = handle, os.getpid()
        self.pointer = handle.allocate(size)
        self.bytes = size
        check(LIBRARY.radiance_workspace_init(handle.pointer, self.pointer, size, stream))

    # A default: when the interpreter ends, names of modules may be gone.
    def __del__(self, getpid=os.getpid) -> None:
        # After a fork the library's locks may be held by threads that no longer are.
        if getpid() == self._process:
            self._handle.free(self.pointer)


class Device:
    """What a torch device is to the library."""

    def __init__(self, device: torch.device, name: str, threads: int = 0):
        self.device = device
        try:
            self.handle = Handle(name, threads)
        except RadianceError as error:
            raise RadianceError(f"torch device {device}: {error}", error.status) from None


class CpuDevice(Device):
    def __init__(self, device: torch.device):
        threads = _cpu_threads or torch.get_num_threads()
        everywhere, here = process_affinity(), os.sched_getaffinity(0)
        # Engines pin their threads, this one perhaps to one core: the library's threads inherit that.
        os.sched_setaffinity(0, everywhere)
        try:
            super().__init__(device, "cpu", threads)
        finally:
            os.sched_setaffinity(0, here)
        self._local = threading.local()

    def workspace(self, needed: int) -> tuple[Workspace, int]:
        """The calling thread's workspace, and its stream."""
        found = getattr(self._local, "workspace", None)
        if found is None or found.bytes < needed:
            found = self._local.workspace = Workspace(self.handle, needed)
        return found, 0

    def reserve(self, needed: int, streams: int) -> None:
        del streams  # every thread makes its own
        self.workspace(needed)


class GpuDevice(Device):
    def __init__(self, device: torch.device):
        if not torch.cuda.is_available():
            raise RadianceError(f"torch device {device}: this torch sees no GPU or no driver", "no device")
        torch.cuda.init()
        super().__init__(device, f"{'hip' if torch.version.hip else 'cuda'}:{device.index}")
        self.index = device.index
        self._streams: dict[int, Workspace] = {}
        self._spares: list[Workspace] = []
        self._outgrown: list[Workspace] = []

    def workspace(self, needed: int) -> tuple[Workspace, int]:
        """The current stream's workspace, and its handle. Neither allocates nor waits once there is one."""
        stream = current_stream(self.index)
        found = self._streams.get(stream)
        if found is None or found.bytes < needed:
            found = self._assign(stream, needed)
        return found, stream

    def _assign(self, stream: int, needed: int) -> Workspace:
        with _lock:
            spare = next((spare for spare in self._spares if spare.bytes >= needed), None)
            if spare is not None:
                self._spares.remove(spare)
            elif torch.cuda.is_current_stream_capturing():
                raise RadianceError(
                    f"torch device {self.device}: no workspace of {needed} bytes is left for the stream that captures "
                    "a graph; call radiance_autoround.reserve(max_m, device) before the capture", "workspace too small")
            else:
                spare = Workspace(self.handle, needed, stream)
            if (former := self._streams.get(stream)) is not None:
                self._outgrown.append(former)
            self._streams[stream] = spare
            if not torch.cuda.is_current_stream_capturing():
                self._stock(needed, 1)
            return spare

    def _stock(self, needed: int, count: int) -> None:
        """Keeps `count` workspaces for streams that come up during a capture, when nothing can be allocated."""
        fit = [spare for spare in self._spares if spare.bytes >= needed]
        self._spares = fit + [Workspace(self.handle, needed) for _ in range(count - len(fit))]
        torch.cuda.synchronize(self.device)  # they are zero for every stream

    def reserve(self, needed: int, streams: int) -> None:
        with _lock:
            self.workspace(needed)
            self._stock(needed, streams - 1)


def process_affinity() -> set[int]:
    """The processors that any thread of this process may run on."""
    allowed = set(os.sched_getaffinity(0))
    for thread in os.listdir("/proc/self/task"):
        try:
            allowed |= os.sched_getaffinity(int(thread))
        except ProcessLookupError:  # it ended meanwhile
            continue
    return allowed


def current_stream(index: int) -> int:
    return torch.cuda.current_stream(index).cuda_stream


# What compilers of torch use: a tenth of the time of the public call.
current_stream = getattr(torch._C, "_cuda_getCurrentRawStream", current_stream)


def device_of(device: torch.device | str) -> Device:
    """The library's device for torch's; opened on first use."""
    device = torch.device(device)
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", torch.cuda.current_device() if torch.cuda.is_available() else 0)
    elif device.type == "cpu":
        device = torch.device("cpu")
    with _lock:
        if (found := _devices.get(device)) is None:
            kinds = {"cpu": CpuDevice, "cuda": GpuDevice}
            if device.type not in kinds:
                raise RadianceError(f"torch device {device} is not supported; supported are cpu and cuda (CUDA or HIP)",
                                    "unsupported")
            found = _devices[device] = kinds[device.type](device)
        return found


def set_cpu_threads(threads: int) -> None:
    """Threads for the CPU's kernels; before their first use. The default is torch.get_num_threads() then."""
    global _cpu_threads
    if threads < 1:
        raise ValueError(f"threads is {threads}, not at least 1")
    with _lock:
        if torch.device("cpu") in _devices:
            raise RadianceError("the CPU's threads are running already; set their number before the first use")
        _cpu_threads = threads


def workspace_bytes(handle: int, rows: int) -> int:
    size = c_size_t()
    check(LIBRARY.radiance_workspace_bytes(handle, rows, byref(size)))
    return size.value


def reserve(max_m: int, device: torch.device | str = "cpu", streams: int = 2) -> None:
    """Makes the scratch for calls of up to `max_m` rows with every weight that is registered on the device: for the
    current stream, and for streams - 1 others that come up later, also while a graph is captured.

    A captured graph keeps the workspace of the stream it was captured on: graphs that shall run at the same time must
    be captured on different streams."""
    from radiance_autoround.weights import largest_workspace

    if max_m < 1 or streams < 1:
        raise ValueError(f"max_m is {max_m} and streams {streams}; both must be at least 1")
    opened = device_of(device)
    if (needed := largest_workspace(opened, max_m)) > 0:
        opened.reserve(needed, streams)


def _forget_after_fork() -> None:
    # The pool's threads do not exist in the child: it opens the device again.
    _lock._at_fork_reinit()
    _devices.clear()


os.register_at_fork(after_in_child=_forget_after_fork)
