"""A client of server-sent events, which reads as they come or on request."""
import json
import socket
import threading
import urllib.parse

from support.program import eventually


def events_of(text):
    """Returns [(name, id, data)] of whole events, without comments and fields without
    data."""
    for block in text.split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.split("\n")
                      if not line.startswith(":"))
        if "data" in fields:
            yield (fields.get("event", "message"), fields.get("id"),
                   json.loads(fields["data"]))


class Stream:
    """A GET of `path`.  It reads on a thread of its own, while it is not held."""

    def __init__(self, url, path="/v1/live", key=None, held=False, buffer=None,
                 **params):
        where = urllib.parse.urlsplit(url)
        self.socket = socket.socket()
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.connect((where.hostname, where.port))
        query = "?" + urllib.parse.urlencode(params) if params else ""
        self.socket.sendall((
            f"GET {path}{query} HTTP/1.1\r\nHost: {where.netloc}\r\n" +
            (f"Authorization: Bearer {key}\r\n" if key else "") +
            "\r\n").encode())
        self.raw = b""
        self.ended = False
        self.go = threading.Event()
        if not held:
            self.go.set()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while True:
            self.go.wait()
            try:
                got = self.socket.recv(65536)
            except OSError:
                got = b""
            if not got:
                self.ended = True
                return
            self.take(got)

    def take(self, got):
        self.raw += got

    def _parts(self):
        head, _, rest = self.raw.partition(b"\r\n\r\n")
        return head.decode(), rest

    @property
    def status(self):
        head, _ = self._parts()
        return int(head.split(" ", 2)[1]) if head else 0

    def header(self, name):
        for line in self._parts()[0].split("\r\n")[1:]:
            key, _, value = line.partition(": ")
            if key.lower() == name.lower():
                return value
        return None

    def body(self):
        """Returns the whole chunks of what has come."""
        rest, out = self._parts()[1], []
        while True:
            size, mark, rest = rest.partition(b"\r\n")
            if not mark or not size or len(rest) < int(size, 16) + 2:
                return b"".join(out).decode()
            out.append(rest[:int(size, 16)])
            rest = rest[int(size, 16) + 2:]

    def whole(self):
        """Returns whether the answer has come to its own end."""
        return self.raw.endswith(b"0\r\n\r\n")

    def events(self):
        return list(events_of(self.body()))

    def clicks(self):
        return [data for name, _, data in self.events() if name == "click"]

    def codes(self):
        return [data["code"] for data in self.clicks()]

    def lost(self):
        return sum(data["events"] for name, _, data in self.events()
                   if name == "lost")

    def ready(self):
        """Waits until clicks from now on will be delivered."""
        eventually(lambda: any(name == "ready" for name, _, _ in self.events()),
                   what="ready")
        return self

    def close(self):
        self.go.set()
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join(60)
        self.socket.close()
