"""A plug-in that stops what runs, again and again, for a moment, as a machine does
that has no processor for it: `tests/run-integration -p support.pauses`.

A test that relies on something that is usually, but not always, so by then fails
beside it.  Each process of pytest stops the programs and servers that it has started;
the one that hands out the tests stops the others, and with them the tests' own
threads.  No pause is longer than LONGEST, well below what programs and tests wait
for.
"""
import contextlib
import os
import random
import signal
import threading
import time

# s; one is as likely from 10 to 20 ms as from 500 ms to LONGEST.
SHORTEST, LONGEST = 0.01, 1.0
# Between two pauses, s, on the average.
BETWEEN = 0.3


def duration():
    return SHORTEST * (LONGEST / SHORTEST) ** random.random()


class Pauser(threading.Thread):
    """Calls pause() until it is told to end."""

    def __init__(self, pause):
        super().__init__(daemon=True)
        self.pause = pause
        self.ending = threading.Event()

    def run(self):
        while not self.ending.wait(random.expovariate(1 / BETWEEN)):
            self.pause()

    def end(self):
        self.ending.set()
        self.join()


class Started:
    """What this process of pytest has started.  What a test stops itself stays
    stopped."""

    def __init__(self):
        import servers  # found once conftest.py has been read

        self.processes = {}  # and the lock that keeps a test's signals from a pause
        made, told = servers.Process.__init__, servers.Process.signal

        def init(process, *args, **kwargs):
            made(process, *args, **kwargs)
            self.processes[process] = threading.Lock()

        def tell(process, *args, **kwargs):
            with self.processes.get(process) or contextlib.nullcontext():
                told(process, *args, **kwargs)

        servers.Process.__init__ = init
        servers.Process.signal = tell

    def pause(self):
        for process in list(self.processes):
            if not process.running():
                del self.processes[process]
        if not self.processes:
            return
        process, lock = random.choice(list(self.processes.items()))
        with lock, contextlib.suppress(ProcessLookupError, FileNotFoundError):
            if process.is_stopped():
                return
            os.killpg(process.pid, signal.SIGSTOP)
            time.sleep(duration())
            os.killpg(process.pid, signal.SIGCONT)


def pause_worker():
    """One of the processes of pytest."""
    children = [int(line) for task in os.listdir("/proc/self/task")
                for line in open(f"/proc/self/task/{task}/children").read().split()]
    if children:
        with contextlib.suppress(ProcessLookupError):
            pid = random.choice(children)
            os.kill(pid, signal.SIGSTOP)
            time.sleep(duration())
            os.kill(pid, signal.SIGCONT)


def pytest_configure(config):
    handing_out = config.getoption("numprocesses", None)
    pauser = Pauser(pause_worker if handing_out else Started().pause)
    config.add_cleanup(pauser.end)
    pauser.start()
