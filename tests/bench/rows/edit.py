"""Links edited in one request, a patch of tags for all, stored in Redis and in Kafka,
against redis-benchmark's pipelined SET of a record of the same size: the maximum of the
same Redis.  Redis, allocator and client share both cores."""
import itertools

from allocator import KEY
from machine import Failure
from rows import batch

RATE = "edit: links"
CPU = "edit: CPU of servers"  # Redis and, on our side, the allocator
METRICS = [(RATE, "1/s", "more"), (CPU, "us a link", "less")]
PEER = batch.PEER
LINKS_A_SECOND = 50000  # the approximate length of a round


class Bench(batch.Bench):
    def __init__(self, machine):
        super().__init__(machine)
        self.links = int(LINKS_A_SECOND * machine.seconds)
        self.bodies = itertools.count(1)
        client = self.allocator.redis.client()
        keys = itertools.islice(client.scan_iter("l:*", 10000), self.links)
        self.codes = [key.rsplit(":", 1)[1] for key in keys]
        client.close()
        if len(self.codes) < self.links:
            raise Failure(f"only {len(self.codes)} links were made to be edited")

    def body(self):
        """Returns the file of an edit that every link needs."""
        path = self.machine.directory / "edit-body"
        with path.open("w") as file:
            file.write('{"patch":{"tags":["round %d"]}}\n' % next(self.bodies))
            file.writelines('{"code":"%s"}\n' % code for code in self.codes)
        return path

    def changed(self):
        return self.allocator.program.metric(
            "shortloop_allocator_batch_lines_total", outcome="changed")

    def ours(self):
        used, changed = self.redis_seconds(), self.changed()
        out = self.allocator.measure(
            [self.client, self.allocator.port, KEY, self.links + 1, self.body()],
            self.cores, new_keys=0)
        used = self.redis_seconds() - used
        if self.changed() - changed != self.links:
            raise Failure("not every link was changed")
        return {RATE: out["rate"], CPU: out["cpu_us"] + used * 1e6 / self.links}

    def peer(self):
        return dict(zip((RATE, CPU), super().peer().values()))
