"""A subscription to Redis that brings nothing any more."""
import socket
import threading


class Deaf:
    """Between a redirector and Redis, at .address: while it is deaf, a connection that
    has subscribed brings nothing, and stays open.  New ones go to redis_port."""

    def __init__(self, port):
        self.redis_port = port
        self.deaf = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.subscribers = 0
        self.askers = []  # the sockets of connections that look links up
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                redis = socket.create_connection(("127.0.0.1", self.redis_port))
            except OSError:
                client.close()
                continue
            state = {"subscriber": False, "asker": False}
            for args in ((client, redis, state, True),
                         (redis, client, state, False)):
                threading.Thread(target=self.pump, args=args,
                                 daemon=True).start()

    def pump(self, source, to, state, asks):
        try:
            while data := source.recv(65536):
                if asks and b"SUBSCRIBE" in data:
                    state["subscriber"] = True
                    self.subscribers += 1
                if asks and b"MGET" in data and not state["asker"]:
                    state["asker"] = True
                    self.askers.append(source)
                if not (self.deaf and state["subscriber"]):
                    to.sendall(data)
        except OSError:
            pass
        for sock in (source, to):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut_one(self):
        """Ends a connection that looks links up."""
        self.askers.pop(0).shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()
