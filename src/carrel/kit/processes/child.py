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
    from carrel.kit.processes.jobs import WANTED, Jobs, receive, send

    os.nice(_LOWER_PRIORITY)  # requests go first
    jobs: Jobs = importlib.import_module(module).JOBS
    jobs.ready()
    jobs.prepare()
    sys.stdin = sys.stdout = sys.stderr = None  # what a library prints goes nowhere
    with socket.socket(fileno=0) as channel, channel.makefile("rwb") as stream:

        def ask() -> bytes:
            send(stream, WANTED)
            return receive(stream)

        send(stream, msgspec.msgpack.encode(confinement.confine(jobs.memory_bytes)))
        while True:
            if not select.select([channel], [], [], _PAUSE_SECONDS)[0]:
                gc.collect()  # what refers to itself, as templates of reports do, must not outlive its call
            call = receive(stream)
            if not call:
                return
            signal.setitimer(signal.ITIMER_PROF, cpu_seconds)  # its signal ends the process
            for answer in jobs.answers(call, ask):
                send(stream, answer)
            signal.setitimer(signal.ITIMER_PROF, 0)
            del call, answer  # what a call held must not outlive it while the next is awaited


if __name__ == "__main__":
    main()
