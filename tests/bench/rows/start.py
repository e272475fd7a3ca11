"""How soon the redirector is ready after its start, and its memory."""
import shutil
import subprocess
import time

from machine import Failure, built
from redirecting import Redirecting
from support.memory import MIB

READY = "redirector: start to ready"
SIZE = "redirector: stripped"
METRICS = [(READY, "ms", "less"), (SIZE, "MiB", "less")]
PEER = "100 ms and 1 MiB, which are wanted"
LOOK_S = 0.001


class Bench:
    def __init__(self, machine):
        self.made = Redirecting(machine, "start", 1)
        self.directory = machine.directory

    def ours(self):
        program = self.made.program
        program.stop()
        before = time.monotonic()
        program.start(ready=False)
        while program.ready()[0] != 200:
            if not program.process.running():
                raise Failure(program.log()[-300:])
            time.sleep(LOOK_S)
        return {READY: (time.monotonic() - before) * 1000, SIZE: self.stripped()}

    def stripped(self):
        copy = self.directory / "stripped"
        shutil.copyfile(built("bin/redirector"), copy)
        subprocess.run(["strip", copy], check=True)
        return copy.stat().st_size / MIB

    def peer(self):
        return {READY: 100, SIZE: 1}

    def close(self):
        self.made.close()
