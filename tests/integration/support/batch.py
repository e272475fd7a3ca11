"""A client of POST /v1/links/batch, or /v1/links/edit, that writes and reads at the same time, as every
client of it must."""
import http.client
import json
import socket
import threading

NDJSON = "application/x-ndjson"


class Batch:
    """A batch under way.  `lines` are bytes, each with its own line end; the body ends
    with them unless keep_open."""

    def __init__(self, api, lines=(), key="boss", content_type=NDJSON,
                 headers=None, receive_buffer=None, keep_open=False,
                 path="/v1/links/batch"):
        host, port = api.program.section["listen"].split(":")
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                   receive_buffer)
        self.socket.settimeout(60)
        self.socket.connect((host, int(port)))
        self.keep_open = keep_open
        head = [f"POST {path} HTTP/1.1", f"Host: {host}",
                "Transfer-Encoding: chunked"]
        if key:
            head.append(f"Authorization: Bearer {key}")
        if content_type:
            head.append(f"Content-Type: {content_type}")
        head += [f"{k}: {v}" for k, v in (headers or {}).items()]
        self.socket.sendall("\r\n".join(head + ["", ""]).encode())
        self.answer = None
        self.thread = threading.Thread(target=self.send_all, args=(lines,),
                                       daemon=True)
        self.thread.start()

    def send(self, data):
        self.socket.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self):
        self.socket.sendall(b"0\r\n\r\n")

    def send_all(self, lines):
        gathered = []
        size = 0
        try:
            for line in lines:
                gathered.append(line)
                size += len(line)
                if size > 30000:
                    self.send(b"".join(gathered))
                    gathered, size = [], 0
            if gathered:
                self.send(b"".join(gathered))
            if not self.keep_open:
                self.end()
        except OSError:
            pass  # the answer has the reason

    def response(self):
        if not self.answer:
            self.answer = http.client.HTTPResponse(self.socket, method="POST")
            self.answer.begin()
        return self.answer

    def read(self, count=None):
        """Returns the next answers as objects; all of them without a count."""
        answers = []
        while count is None or len(answers) < count:
            line = self.response().readline()
            if not line:
                break
            assert line.endswith(b"\n"), line
            answers.append(json.loads(line))
        return answers

    def cut(self):
        """Closes the connection in the middle."""
        # A thread that is blocked in sending would keep the connection open.
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.close()

    def close(self):
        # The response also keeps the socket open.
        if self.answer:
            self.answer.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def batch(api, lines, **kw):
    """Sends lines and returns all answers."""
    with Batch(api, lines, **kw) as b:
        assert b.response().status == 200, b.response().read()
        return b.read()


def good(i, **fields):
    return json.dumps({"url": f"https://example.org/{i}", "ttl": "1h",
                       **fields}).encode() + b"\n"
