"""Very many streams of server-sent events, read by one thread."""
import selectors
import socket
import threading
import urllib.parse


class Member:
    """One stream.  It keeps counts and its last bytes, not the whole text."""

    def __init__(self, connected, key):
        self.socket = connected
        self.key = key
        self.clicks = 0
        self.ready = False
        self.ended = False
        self.tail = b""

    def read(self):
        """Reads what has come; returns False at the end."""
        try:
            got = self.socket.recv(1 << 18)
        except BlockingIOError:
            return True
        except OSError:
            got = b""
        if not got:
            self.ended = True
            return False
        text = self.tail + got
        self.clicks += text.count(b"event: click\n")
        self.ready = self.ready or b"event: ready\n" in text
        # The rest may be the beginning of a name, but is too short for a whole one.
        self.tail = text[-12:]
        return True

    def whole(self):
        """Returns whether the answer has come to its own end."""
        return self.tail.endswith(b"0\r\n\r\n")


class Crowd:
    """with Crowd(url) as crowd: crowd.join(number, key)"""

    def __init__(self, url, path="/v1/live"):
        where = urllib.parse.urlsplit(url)
        self.address = (where.hostname, where.port)
        self.path = path
        self.members = []
        self.selector = selectors.DefaultSelector()
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join(60)
        for member in self.members:
            member.socket.close()

    def join(self, number, key, reads=True, buffer=None):
        """Adds `number` streams of `key`; those that do not read leave the data
        waiting."""
        made = [self._connect(key, buffer) for _ in range(number)]
        with self.lock:
            self.members += made
            for member in made if reads else ():
                member.socket.setblocking(False)
                self.selector.register(member.socket, selectors.EVENT_READ, member)
        return made

    def _connect(self, key, buffer):
        one = socket.socket()
        if buffer:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        one.settimeout(60)
        one.connect(self.address)
        one.sendall((f"GET {self.path} HTTP/1.1\r\nHost: localhost\r\n"
                     f"Authorization: Bearer {key}\r\n\r\n").encode())
        return Member(one, key)

    def _read(self):
        while not self.ended.is_set():
            with self.lock:
                for found, _ in self.selector.select(0.05):
                    if not found.data.read():
                        self.selector.unregister(found.fileobj)
            # This gives a thread that joins its turn.
            self.ended.wait(0.001)
