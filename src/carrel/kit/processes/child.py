"""The other side of `worker.py`: a process that confines itself and then answers the calls of one closed list.

It is started as a file, with the name of the list's module, the processor time of a call and the service's search path.
"""

import gc
import importlib
import os
import select
import signal
import socket
import sys
from io import BufferedIOBase

_LOWER_PRIORITY = 5
_PAUSE_SECONDS = 0.1


def main() -> None:
    """Answer calls until the service hangs up."""
    for ignored in (signal.SIGINT, signal.SIGTERM):  # the service decides when to end, and hangs up when it ends itself
        signal.signal(ignored, signal.SIG_IGN)
    module, cpu_seconds = sys.argv[1], float(sys.argv[2])
    sys.path[:] = sys.argv[3:]  # the service's, so that the worker finds the same modules

    from carrel.kit.processes import private_memory

    private_memory.continue_in_child({})

    import msgspec

    from carrel.kit.processes import confinement
    from carrel.kit.processes.jobs import LENGTH, Jobs

    os.nice(_LOWER_PRIORITY)  # requests go first
    jobs: Jobs = importlib.import_module(module).JOBS
    jobs.ready()
    jobs.prepare()
    sys.stdin = sys.stdout = sys.stderr = None  # what a library prints goes nowhere
    with socket.socket(fileno=0) as channel, channel.makefile("rwb") as stream:
        confined = confinement.confine(jobs.memory_bytes)
        answer = msgspec.msgpack.encode(confined)
        while True:
            stream.write(LENGTH.pack(len(answer)))
            stream.write(answer)
            stream.flush()
            del answer  # what a call held must not outlive it while the next is awaited
            if not select.select([channel], [], [], _PAUSE_SECONDS)[0]:
                gc.collect()  # nor what refers to itself, as templates of reports do
            if not (call := _receive(stream, LENGTH.size)):
                return
            call = _receive(stream, *LENGTH.unpack(call))
            signal.setitimer(signal.ITIMER_PROF, cpu_seconds)  # its signal ends the process
            answer = jobs.answer(call)
            signal.setitimer(signal.ITIMER_PROF, 0)
            del call


def _receive(stream: BufferedIOBase, length: int) -> bytes:
    """So many bytes; none when the service has hung up."""
    received = stream.read(length)
    return received if len(received) == length else b""


if __name__ == "__main__":
    main()
