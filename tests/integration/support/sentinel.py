"""A Redis Sentinel."""
import redis as redis_client

from support.server import Server


class Sentinel(Server):
    name = "sentinel"

    def __init__(self, directory, master):
        super().__init__(directory)
        directory.mkdir(parents=True)
        self.config = directory / "sentinel.conf"
        self.config.write_text(
            f"port {self.port}\nbind 127.0.0.1\ndir {directory}\n"
            f"sentinel monitor mymaster 127.0.0.1 {master.port} 1\n"
            "sentinel failover-timeout mymaster 2000\n")

    def command(self):
        return ["redis-server", self.config, "--sentinel"]

    def client(self):
        return redis_client.Redis(port=self.port, decode_responses=True)

    def probe(self):
        try:
            return self.client().ping()
        except redis_client.RedisError:
            return False

    def mind(self, after=500):
        """From now on a master that does not answer is replaced after this many
        milliseconds.  Before that, a slow one is not replaced: the limit is 30
        seconds."""
        self.client().sentinel_set("mymaster", "down-after-milliseconds", after)

    def master(self):
        return self.client().sentinel_get_master_addr_by_name("mymaster")[1]

    def knows_replica(self):
        return self.knows_replicas(1)

    def knows_replicas(self, count):
        """Waits until this many replicas are known and have all data."""
        known = self.client().sentinel_slaves("mymaster")
        return len(known) == count and all(
            replica["flags"] == "slave" and replica["master-link-status"] == "ok"
            for replica in known)
