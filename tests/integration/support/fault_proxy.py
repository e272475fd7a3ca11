"""Proxies between a program and ClickHouse, or Kafka, with the faults of networks
and servers.

    with ClickHouseProxy(port, seed=7) as proxy:
        proxy.url                               the value for clickhouse.url
        proxy.at(2, "hang_after", "clicks")     the 2nd insert into clicks from now
        proxy.every("error_after")              each request
        proxy.at_random(0.1, kinds=INSERTS)     one of ten, chosen by the seed
        proxy.refuse(); proxy.accept()          refuses connections; accepts again
        proxy.call_at(2, f, "clicks")           calls f() before the 2nd passes, or
        proxy.call_at(2, f, "clicks", True)     when it is executed, not answered
        held = proxy.hold("clicks")             the next one waits (held.here) until
        held.release()                          this, and then passes, even if its
                                                sender has closed: a late packet
        proxy.say(f, "question")                replaces each answer with the bytes f(answer)
        proxy.calm()                            ends all faults
        proxy.passed                            the requests: at, kind, says, token, fault,
                                                query

A request's kind is the table that it inserts into ("clicks", "ingest_progress",
"links", ...), "alter", "create", "question" for any other query, "ping" for /ping.  A
rule may also name the kind of a row of `settled`: "settled:sealed_day".  FAULTS lists the
faults of a request.  All methods may be called in any thread.
"""
import collections
import http.client
import queue
import random
import re
import select
import socket
import struct
import threading
import time
import urllib.parse

from backports import zstd

import servers

# The faults of a request: whether it reaches ClickHouse, and what happens to its
# answer.
FAULTS = {
    "hang_before": "does not reach it; no answer ever comes",
    "hang_after": "is carried out; no answer ever comes",
    "error_before": "does not reach it; the answer is a 503",
    "error_after": "is carried out; the answer is a 500",
    "drop_before": "does not reach it; the connection is cut",
    "drop_after": "is carried out; the connection is cut without an answer",
    "close_after": "is carried out; the connection ends as an idle one does",
    "cut_answer": "is carried out; the answer ends in its middle",
    "cut_request": "reaches it by half; the connection is cut",
    "twice": "is carried out twice; the second answer is given",
    "delay": "comes late by proxy.delay seconds, otherwise well",
    "late": "the connection is cut; it reaches it proxy.delay seconds later",
}
INSERTS = ("clicks", "ingest_progress", "links")
# Faults that end by themselves, for tests that wait.
QUICK = tuple(f for f in FAULTS if not f.startswith("hang_"))

INSERT = re.compile(r"\s*INSERT\s+INTO\s+(?:TABLE\s+)?(?:\w+\.)?`?(\w+)",
                    re.IGNORECASE)

Passed = collections.namedtuple("Passed", "at kind says token fault query params")
Call = collections.namedtuple("Call", "function carried_out")
Say = collections.namedtuple("Say", "function")


class Listener:
    """A port that can be closed and opened again, and its connections."""

    def __init__(self):
        self.lock = threading.RLock()
        self.sockets = set()
        self.closed = False
        self.listener = None
        # The port is not one that the system gives to any process: otherwise another
        # process could have it when this one needs it again.
        self.port = servers.free_port()
        self.accept()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def accept(self):
        """Listens, on the same port each time."""
        with self.lock:
            if self.listener or self.closed:
                return
            self.listener = socket.create_server(("127.0.0.1", self.port),
                                                 backlog=128)
            threading.Thread(target=self.listen, args=(self.listener,),
                             daemon=True).start()

    def refuse(self):
        """Refuses new connections and resets the present ones."""
        with self.lock:
            listener, self.listener = self.listener, None
            if listener:
                shut(listener)
        self.cut()

    def cut(self):
        """Resets all connections; new ones are accepted."""
        with self.lock:
            sockets, self.sockets = self.sockets, set()
        for sock in sockets:
            reset(sock)

    def close(self):
        self.closed = True
        self.refuse()

    def listen(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.sockets.add(client)
            threading.Thread(target=self.serve_and_close, args=(client,),
                             daemon=True).start()

    def serve_and_close(self, client):
        try:
            self.serve(client)
        except (OSError, EOFError, http.client.HTTPException):
            pass
        with self.lock:
            self.sockets.discard(client)
        shut(client)

    def serve(self, client):
        raise NotImplementedError


def shut(sock):
    """Shuts the socket down, which also wakes every thread that waits on it."""
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    sock.close()


def reset(sock):
    """The peer gets ECONNRESET, not a clean end; a thread that reads here wakes."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        struct.pack("ii", 1, 0))
        sock.shutdown(socket.SHUT_RD)
    except OSError:
        pass
    sock.close()


# --- ClickHouse --------------------------------------------------------------

class ClickHouseProxy(Listener):
    def __init__(self, clickhouse_port, seed=None):
        self.clickhouse_port = clickhouse_port
        self.chance = random.Random(seed)
        self.delay = 1.0
        self.passed = []
        self.rules = []
        self.held = []
        super().__init__()

    @property
    def url(self):
        return f"http://{self.address}"

    # Setting faults.

    def at(self, number, fault, kind=None):
        """Applies the fault to the `number`th request of that kind from now on."""
        self._add(Rule(fault, kind and (kind,), number=number))

    def call_at(self, number, function, kind=None, carried_out=False):
        """Calls the function at the `number`th request of that kind from now on."""
        self._add(Rule(Call(function, carried_out), kind and (kind,),
                       number=number))

    def every(self, fault, *kinds):
        """Applies the fault to each request of these kinds, of any kind if none is
        named."""
        self._add(Rule(fault, kinds or None))

    def say(self, function, *kinds):
        """Replaces the answer to each request of these kinds with function(answer);
        then the connection ends."""
        self._add(Rule(Say(function), kinds or None))

    def at_random(self, chance, faults=QUICK, kinds=None):
        """Applies one of these faults to one in 1/chance requests."""
        self._add(Rule(tuple(faults), kinds, chance=chance))

    def hold(self, kind=None, fault=None, words=""):
        """Holds the next request of that kind whose query has these words; `fault` is
        applied to it then."""
        held = Held(kind, fault, words)
        with self.lock:
            self.held.append(held)
        return held

    def calm(self):
        """Removes all faults.  Requests that hang do so until their senders have
        gone."""
        with self.lock:
            self.rules = []

    def _add(self, rule):
        unknown = [f for f in rule.faults
                   if f not in FAULTS and not isinstance(f, (Call, Say))]
        assert not unknown, unknown
        with self.lock:
            self.rules.append(rule)

    # Records of what happened.

    def count(self, kind=None, fault=None):
        """Returns how many requests passed, of a kind, with a fault (None: any or
        none)."""
        with self.lock:
            return sum(kind in (None, p.kind, p.says) and fault in (None, p.fault)
                       for p in self.passed)

    def faults(self):
        """Returns {fault: how often}."""
        with self.lock:
            return collections.Counter(p.fault for p in self.passed if p.fault)

    # Implementation.

    def serve(self, client):
        asked = Stream(client)
        while True:
            request = Request.read(asked)
            held, fault = self._judge(request)
            if held:
                held.here.set()
                held.gone.wait()
            goes_on = self._meet(request, client, fault)
            if held:
                held.met.set()
            if not goes_on:
                return

    def _judge(self, request):
        with self.lock:
            held = next((h for h in self.held if not h.here.is_set() and
                         h.kind in (None, request.kind, request.says) and
                         h.words in request.query), None)
            fault = held.fault if held else None
            for rule in self.rules if not held else ():
                fault = fault or rule.decide(request, self.chance)
            if held:
                self.held.remove(held)
            self.passed.append(Passed(
                time.time(), request.kind, request.says, request.token,
                type(fault).__name__.lower() if isinstance(fault, (Call, Say))
                else fault, request.query, request.params))
        return held, fault

    def _meet(self, request, client, fault):
        """Returns False at the end of the connection."""
        if isinstance(fault, Call):
            return self._call(request, client, fault)
        if isinstance(fault, Say):
            client.sendall(fault.function(self._ask(request)))
            return False
        if fault == "cut_request":
            self._send_half(request)
            return self._end(client)
        if fault == "late":
            self._end(client)
            time.sleep(self.delay)
        if fault == "delay":
            time.sleep(self.delay)
        if fault == "twice":
            self._ask(request)
        if fault in ("hang_before", "error_before", "drop_before"):
            answer = None
        else:
            answer = self._ask(request)
        return self._answer(client, fault, answer)

    def _call(self, request, client, call):
        if not call.carried_out:
            call.function()
        answer = self._ask(request)
        if call.carried_out:
            call.function()
        return self._answer(client, None, answer)

    def _answer(self, client, fault, answer):
        if fault in ("hang_before", "hang_after"):
            return self._hang(client)
        if fault in ("drop_before", "drop_after", "late"):
            return self._end(client)
        if fault == "close_after":
            return False
        if fault == "cut_answer":
            client.sendall(answer[:len(answer) * 2 // 3])
            return self._end(client)
        if fault == "error_before":
            answer = error(503, "Service Unavailable")
        if fault == "error_after":
            answer = error(500, "Internal Server Error")
        client.sendall(answer)
        return True

    def _hang(self, client):
        """Waits until the other side closes, or cut() ends it."""
        while not self.closed:
            try:
                if select.select([client], [], [], 0.2)[0]:
                    break
            except ValueError:  # select() raises it for a closed socket
                break
        return False

    @staticmethod
    def _end(client):
        reset(client)
        return False

    def _ask(self, request):
        """Returns ClickHouse's answer as bytes with a known length.  If ClickHouse is
        down, it is a 502, as from a load balancer."""
        to = http.client.HTTPConnection("127.0.0.1", self.clickhouse_port,
                                        timeout=600)
        try:
            to.request(request.method, request.path, request.body,
                       dict(request.headers))
            answer = to.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            return error(502, "Bad Gateway")
        finally:
            to.close()
        kept = [(name, value) for name, value in answer.getheaders()
                if name.lower() not in ("transfer-encoding", "connection",
                                        "content-length", "keep-alive")]
        return response(answer.status, answer.reason, kept, body)

    def _send_half(self, request):
        try:
            with socket.create_connection(
                    ("127.0.0.1", self.clickhouse_port), 10) as to:
                to.sendall(request.head)
                to.sendall(request.body[:len(request.body) // 2])
                time.sleep(0.05)
                reset(to)
        except OSError:
            pass


class Rule:
    def __init__(self, fault, kinds, number=None, chance=None):
        self.faults = (fault,) if isinstance(fault, (str, Call, Say)) else fault
        self.kinds = kinds
        self.number = number
        self.chance = chance

    def decide(self, request, chance):
        """Returns the fault for the present request, or None."""
        if self.kinds and not {request.kind, request.says}.intersection(self.kinds):
            return None
        if self.number is not None:
            self.number -= 1
            return self.faults[0] if self.number == 0 else None
        if self.chance is not None and chance.random() >= self.chance:
            return None
        return chance.choice(self.faults)


class Held:
    """A request that arrives late."""

    def __init__(self, kind, fault=None, words=""):
        self.kind = kind
        self.fault = fault
        self.words = words
        self.here = threading.Event()
        self.gone = threading.Event()
        self.met = threading.Event()  # passed, and executed

    def release(self):
        self.gone.set()


# The kinds of rows in schemas/clickhouse/ that are not made by a SELECT.
DECODE = {"zstd": zstd.decompress, "": bytes}
SETTLED_BYTES = {1: "hour", 2: "pass", 7: "sealing", 14: "copying", 16: "valuing",
                 19: "spanning", 21: "sampling", 24: "link_valuing"}


def settled_kind(query, encoding, body):
    """Returns the kind of an insert into `settled`; all of its rows have the same."""
    selected = re.search(r"\bSELECT '(\w+)'", query)
    if selected:
        return f"settled:{selected[1]}"
    return f"settled:{SETTLED_BYTES.get(DECODE[encoding](body)[0], 'other')}"


def without_layout(query):
    """Statements are formatted in files: what tests look for has single blanks, and none
    inside of a parenthesis."""
    return " ".join(query.split()).replace("( ", "(").replace(" )", ")")


class Request:
    def __init__(self, head, body):
        self.head = head
        self.body = body
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = first.split(" ", 2)
        self.headers = [tuple(line.split(": ", 1)) for line in lines if line]
        self.headers = [h for h in self.headers if len(h) == 2]
        url = urllib.parse.urlsplit(self.path)
        self.params = dict(urllib.parse.parse_qsl(url.query))
        self.token = self.params.get("insert_deduplication_token", "")
        query = self.params.get("query") or body[:4000].decode("latin-1")
        self.query = without_layout(query)
        table = INSERT.match(self.query)
        self.kind = ("ping" if url.path == "/ping" else
                     table[1] if table else
                     "alter" if self.query.startswith("ALTER ") else
                     "create" if self.query.startswith("CREATE ") else
                     "question")
        self.says = None
        if self.kind == "settled":
            encoding = next((value for name, value in self.headers
                             if name.lower() == "content-encoding"), "")
            self.says = settled_kind(self.query, encoding, body)

    @classmethod
    def read(cls, stream):
        head = stream.until(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
        assert length or b"\r\ntransfer-encoding" not in head.lower(), head
        return cls(head, stream.bytes(int(length[1]) if length else 0))


class Stream:
    """This replaces socket.makefile, which would keep the socket from being reset."""

    def __init__(self, sock):
        self.sock = sock
        self.here = bytearray()

    def more(self):
        piece = self.sock.recv(1 << 18)
        if not piece:
            raise EOFError
        self.here += piece

    def until(self, end):
        while end not in self.here:
            self.more()
        return self.bytes(self.here.index(end) + len(end))

    def bytes(self, count):
        while len(self.here) < count:
            self.more()
        taken = bytes(self.here[:count])
        del self.here[:count]
        return taken


def response(status, reason, headers, body):
    lines = [f"HTTP/1.1 {status} {reason}"]
    lines += [f"{name}: {value}" for name, value in headers]
    lines += [f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def error(status, reason):
    return response(status, reason, [("Content-Type", "text/plain")],
                    f"{reason}, says a proxy\n".encode())


# --- Kafka -------------------------------------------------------------------

# Produce, Fetch, OffsetCommit and Heartbeat, by Kafka's protocol
PRODUCE, FETCH, COMMIT, HEARTBEAT = 0, 1, 8, 12


class KafkaProxy(Listener):
    """Passes bytes both ways; faults:

        proxy.cut()                 all connections are reset
        proxy.refuse(), .accept()   refuses connections; accepts again
        proxy.stall(), .flow()      nothing passes, nothing is lost; passes again
        proxy.delay = 0.05          seconds by which each piece is delayed
        proxy.garbled = b"abc"      changes the case of these bytes from brokers;
                                    None: no change
        held = proxy.hold(COMMIT)   the next such request waits, and all later ones
                                    of its connection; held.here, held.release()
        proxy.count(FETCH)          how many of these requests have come

    A broker reports its address to clients, so it must report this port
    (ProxiedKafkaServer)."""

    def __init__(self, kafka_port=None):
        self.kafka_port = kafka_port
        self.delay = 0
        self.garbled = None
        self.flowing = threading.Event()
        self.flowing.set()
        self.held = []
        self.counts = collections.Counter()
        super().__init__()

    def count(self, api):
        with self.lock:
            return self.counts[api]

    def hold(self, api):
        held = Held(api)
        with self.lock:
            self.held.append(held)
        return held

    def calm(self):
        """Restores the first state; a held request goes on."""
        with self.lock:
            held, self.held = self.held, []
        for one in held:
            one.release()
        self.delay = 0
        self.garbled = None
        self.flow()
        self.accept()

    def stall(self):
        self.flowing.clear()

    def flow(self):
        self.flowing.set()

    def close(self):
        super().close()
        self.flow()

    def serve(self, client):
        broker = socket.create_connection(("127.0.0.1", self.kafka_port), 10)
        broker.settimeout(None)
        broker.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.sockets.add(broker)
        back = threading.Thread(target=self.pump, args=(
            broker, client, lambda size: self.garble(broker.recv(size))),
            daemon=True)
        back.start()
        stream = Stream(client)
        self.pump(client, broker, lambda _: self.request(stream))
        back.join()
        with self.lock:
            self.sockets.discard(broker)
        shut(broker)

    def garble(self, piece):
        word = self.garbled
        return piece.replace(word, word.swapcase()) if word else piece

    def request(self, stream):
        """Returns a whole request, once it may pass."""
        size = stream.bytes(4)
        body = stream.bytes(int.from_bytes(size, "big"))
        api = int.from_bytes(body[:2], "big")
        with self.lock:
            self.counts[api] += 1
            held = next((h for h in self.held if h.kind == api), None)
            if held:
                self.held.remove(held)
        if held:
            held.here.set()
            held.gone.wait()
        return size + body

    def pump(self, source, sink, take):
        try:
            while True:
                piece = take(1 << 18)
                if not piece:
                    break
                self.flowing.wait()
                if self.delay:
                    time.sleep(self.delay)
                sink.sendall(piece)
        except (OSError, EOFError):
            pass
        for sock in (source, sink):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Meeting:
    """A request waits until this thread has done something.  A thread of the proxy must
    not start a server, since the server would end with that thread."""

    def __init__(self):
        self.here = threading.Event()
        self.gone = threading.Event()

    def wait(self):
        self.here.set()
        self.gone.wait(60)


class Meetings:
    """The same for many requests, in the order in which they come."""

    def __init__(self):
        self.waiting = queue.Queue()

    def wait(self):
        meeting = Meeting()
        self.waiting.put(meeting)
        meeting.wait()

    def act(self, function, timeout=0):
        """Calls the function while the next request waits; raises queue.Empty if there
        was none."""
        meeting = self.waiting.get(timeout > 0, timeout)
        function()
        meeting.gone.set()


def each_step(proxy, kinds, act, insert, rows):
    """Inserts a part of the rows, runs `act` before a statement of each kind is
    executed, and after one, and yields the rows that are there."""
    steps = [(kind, done) for kind in kinds for done in (False, True)]
    part = len(rows) // len(steps)
    for number, (kind, carried_out) in enumerate(steps):
        meeting = Meeting()
        proxy.call_at(1, meeting.wait, kind, carried_out)
        insert(rows[part * number:part * (number + 1)])
        assert meeting.here.wait(60), f"no {kind}"
        act()
        meeting.gone.set()
        yield rows[:part * (number + 1)]


def each_fault(proxy, fault, kinds, insert, rows):
    """Inserts a part of the rows, applies the fault to a statement of each kind, and
    yields the rows that are there."""
    part = len(rows) // len(kinds)
    for number, kind in enumerate(kinds):
        proxy.at(1, fault, kind)
        insert(rows[part * number:part * (number + 1)])
        yield rows[:part * (number + 1)]
    assert proxy.faults() == {fault: len(kinds)}
