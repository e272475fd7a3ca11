"""Redis servers that replicate another."""
from support.program import eventually


def follow(replica, master):
    """`master` has a .port: a server, or a proxy before one."""
    replica.client().replicaof("127.0.0.1", master.port)
    eventually(lambda: replica.client().info("replication").get(
        "master_link_status") == "up", what="a replica in sync")


def in_sync(master, replica):
    """Waits until the replica has everything that the master has now.  (WAIT is no use:
    it counts only writes of its own connection, which has none.)"""
    end = master.client().info("replication")["master_repl_offset"]
    eventually(lambda: replica.client().info("replication")[
        "slave_repl_offset"] >= end, what="all at the replica")
