"""How often the redirector allocates memory for a cached redirect with its event, which
is in the journal, too; by malloc and related functions. The caller's address shows
librdkafka's calls, and the names of threads show its own."""
import pathlib
import struct
import subprocess

from machine import Failure
from redirecting import Redirecting, by_zipf, visit

PREFIX = "allocations, a cached redirect: "
OURS = f"{PREFIX}ours"
ITS_IN_OURS = f"{PREFIX}librdkafka, on our threads"
ITS = f"{PREFIX}librdkafka's threads"
METRICS = [(name, "1 visit", "less") for name in (OURS, ITS_IN_OURS, ITS)]
PEER = "fewer than one in a hundred visits of ours; of librdkafka one a visit"
WANTED = {OURS: 0.01, ITS_IN_OURS: 1, ITS: 1}
LINKS = 10_000
SOURCE = pathlib.Path(__file__).resolve().parent.parent / "allocations.c"
THREADS_MAX = 255


class Bench:
    def __init__(self, machine):
        self.machine = machine
        library = machine.directory / "allocations.so"
        self.counts = machine.directory / "allocations.counts"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE],
                       check=True)
        self.made = Redirecting(
            machine, "allocations", LINKS,
            env={"LD_PRELOAD": str(library), "ALLOCATIONS": str(self.counts)},
            spool_dir=str(machine.directory / "allocations-spool"),
            cache_ttl="1h")
        try:
            self.visits = self.made.file("visits", by_zipf(self.made.codes))
            self.made.measure(self.visits)  # the cache has all of them after this
        except BaseException:
            self.close()
            raise

    def calls(self):
        """Returns {thread: (calls, calls from librdkafka)}."""
        data = self.counts.read_bytes()
        count, = struct.unpack_from("Q", data)
        if not 0 < count <= THREADS_MAX:
            raise Failure(f"{count} threads were counted")
        rows = struct.iter_unpack("QQQ", data[8:8 + 24 * count])
        return {thread: (calls, its) for thread, calls, its in rows}

    def is_its(self, thread):
        """librdkafka names its threads."""
        task = pathlib.Path(f"/proc/{self.made.program.process.pid}/task/{thread}")
        try:
            return (task / "comm").read_text().startswith("rdk:")
        except OSError as e:
            raise Failure(f"a thread has ended in the round: {e}") from e

    def ours(self):
        self.made.settled()
        before = self.calls()
        visits = visit(self.machine, self.made.port, self.visits)["requests"]
        values = dict.fromkeys(WANTED, 0)
        for thread, (calls, its) in self.calls().items():
            calls_before, its_before = before.get(thread, (0, 0))
            calls, its = calls - calls_before, its - its_before
            if not calls:
                continue
            if self.is_its(thread):
                values[ITS] += calls / visits
            else:
                values[OURS] += (calls - its) / visits
                values[ITS_IN_OURS] += its / visits
        return values

    def peer(self):
        return dict(WANTED)

    def close(self):
        self.made.close()
