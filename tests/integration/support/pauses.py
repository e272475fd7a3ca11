"""A plug-in that stops running processes for a moment, again and again, as on a machine
without a free processor: `tests/run-integration -p support.pauses`.

It makes a test fail that relies on something that is usually, but not always, done in
time.  Each process of pytest stops the programs and servers that it has started; the
one that hands out the tests stops the others, and with them the tests' own threads.  No
pause is longer than LONGEST, well below the timeouts of programs and tests.
"""
import contextlib
import os
import random
import signal
import threading
import time

# s; a pause from 10 to 20 ms is as likely as one from 500 ms to LONGEST.
SHORTEST, LONGEST = 0.01, 1.0
# The average time between two pauses, s.
BETWEEN = 0.3


def duration():
    return SHORTEST * (LONGEST / SHORTEST) ** random.random()


class Pauser(threading.Thread):
    """Calls pause() until it is stopped."""

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
    """Everything that this process of pytest has started.  A process that a test itself
    stopped stays stopped."""

    def __init__(self):
        import servers  # available after conftest.py was read

        self.processes = {}  # and the lock that separates a test's signals from a pause
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
    """Pauses one of the processes of pytest."""
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
