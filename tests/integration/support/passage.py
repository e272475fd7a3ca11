"""A proxy between two servers that passes data both ways, and can be stopped.

    with Passage(port) as passage:
        passage.address, passage.port
        passage.stop()      connections stay open, but deliver nothing
        passage.go_on()     delivers what was held back, and all that follows
"""
import socket
import threading


class Passage:
    def __init__(self, port):
        self.to = port
        self.open = threading.Event()
        self.open.set()
        self.ended = False
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        threading.Thread(target=self.listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.ended = True
        self.open.set()
        shut(self.listener, *self.sockets)
        for sock in [self.listener, *self.sockets]:
            sock.close()

    def stop(self):
        self.open.clear()

    def go_on(self):
        self.open.set()

    def listen(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                if self.ended:
                    return
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                client.close()
                continue
            self.sockets += [client, server]
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self.pump, args=ends,
                                 daemon=True).start()

    def pump(self, source, to):
        try:
            while data := source.recv(65536):
                self.open.wait()
                if self.passes(data, source, to):
                    to.sendall(data)
        except OSError:
            pass
        shut(source, to)

    def passes(self, data, source, to):
        """For subclasses: returns whether this is passed on."""
        return True


def shut(*sockets):
    """Ends threads that wait for the sockets or send to them."""
    for sock in sockets:
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
