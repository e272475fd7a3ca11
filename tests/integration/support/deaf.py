"""A subscription to Redis that delivers nothing any more."""
import socket

from support.passage import Passage


class Deaf(Passage):
    """A proxy between a redirector and Redis, at .address: while it is deaf, a
    connection with a subscription delivers nothing, and stays open.  New connections go
    to the port `to`."""

    def __init__(self, port):
        self.deaf = False
        self.subscribers = 0
        self.subscribed = set()  # both ends of each
        self.askers = []  # the sockets of connections that look links up
        super().__init__(port)

    def passes(self, data, source, to):
        if b"SUBSCRIBE" in data:
            self.subscribed |= {source, to}
            self.subscribers += 1
        if b"MGET" in data and source not in self.askers:
            self.askers.append(source)
        return not (self.deaf and source in self.subscribed)

    def cut_one(self):
        """Closes a connection that looks links up."""
        self.askers.pop(0).shutdown(socket.SHUT_RDWR)
