"""Raw requests, and how a server handles them.

A case (support/http_cases.py) is bytes.  `ask` sends them on a connection of their
own, followed by the canary: a request for a target that no case has, which ends the
connection.  The result is a list of words, one for each answer and one for the end:

    ok         the server's usual status for that method and target
    404        another status
    100        100 Continue
    canary     the canary's answer: the connection was kept, and in step
    SMUGGLED   the answer to a request that is a body in the case
    cut        an incomplete answer
    raw        bytes that are no answer
    close      the connection ended, the canary was not answered
    hang       neither happened in time

So "ok canary" is an answer on a connection that is kept, "400 close" a refusal.
"""
import dataclasses
import datetime
import email.utils
import fnmatch
import re
import socket

from support.program import PATIENCE


@dataclasses.dataclass(frozen=True)
class Case:
    """`writes` are sent one after the other, each when the server has read the one
    before it, or, at None, when it has answered something.  The canary is sent with
    the last.  In `writes`, {T} is the target, {H} the line Host with the other
    headers that the server needs, {J} the type of a body, {SMUGGLED} a request of
    {LENGTH} bytes ({HEX} in hexadecimal) for {S}, which must never be answered.

    `ours` are the permitted results of our servers, `others` are further ones that
    the RFC allows, all as fnmatch patterns.  `must` quotes the rule that any other
    result breaks."""
    name: str
    rfc: str
    writes: tuple
    ours: tuple
    others: tuple = ()
    must: str = ""
    methods: tuple = ()
    status: frozenset = frozenset()  # in place of the server's own for "ok"
    half_close: bool = False         # the client ends sending, with no canary
    elsewhere: bool = False          # the target does not exist
    in_body: bool = False            # the headers are valid
    endless: bool = False            # the announced body is larger than the sent one

    def all_methods(self):
        if self.methods:
            return self.methods
        first = self.writes[0].lstrip(b"\r\n").split(b" ")[0]
        return (first.decode("latin-1"),)


class Server:
    """A server to which cases are sent.  `served` and `absent`: {method: statuses} of
    the target and of a target that does not exist, with None for all other methods.  A
    server that `streams` takes bodies of any length, and begins its answer before their
    end."""

    def __init__(self, name, port, target, served, absent, canary, smuggled,
                 fields=b"", content=b"application/json", streams=False):
        self.name = name
        self.streams = streams
        self.port = port
        self.target = target
        self.served = served
        self.absent = absent
        self.canary, self.canary_mark = canary
        self.smuggled, self.smuggled_mark = smuggled
        self.host = b"Host: a\r\n" + fields
        self.content = b"Content-Type: %s\r\n" % content
        self.other = None

    def fill(self, text):
        hidden = b"GET %s HTTP/1.1\r\n%s\r\n" % (self.smuggled, self.host)
        for token, value in (
                (b"{SMUGGLED}", hidden), (b"{LENGTH}", b"%d" % len(hidden)),
                (b"{LENGTH+5}", b"%d" % (len(hidden) + 5)),
                (b"{HEX}", b"%x" % len(hidden)), (b"{T}", self.target),
                (b"{S}", self.smuggled), (b"{H}", self.host), (b"{J}", self.content)):
            text = text.replace(token, value)
        return text

    def last_request(self):
        return b"GET %s HTTP/1.1\r\nConnection: close\r\n%s\r\n" % (
            self.canary, self.host)

    def statuses(self, case, method):
        table = self.absent if case.elsewhere else self.served
        return case.status or table.get(method, table[None])

    def wait_read(self):
        """Waits until a server of one thread has read everything sent before: it
        answers another connection after that."""
        if not self.other:
            self.other = socket.create_connection(("127.0.0.1", self.port),
                                                  PATIENCE)
        self.other.sendall(b"GET /nothing HTTP/1.1\r\n%s\r\n" % self.host)
        came = b""
        while not any(not a.cut for a in split_answers(came, ["GET"])[0]):
            piece = self.other.recv(65536)
            assert piece, came
            came += piece

    def close(self):
        if self.other:
            self.other.close()


# --- answers ---------------------------------------------------------------------

STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-5]\d\d) [\t -~]*\Z")
FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*"
                   rb"([\x21-\x7e](?:[\t -~]*[\x21-\x7e])?)?[ \t]*\Z")
DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} "
                  r"\d\d:\d\d:\d\d GMT\Z")


class Answer:
    """`flaws` has everything that is wrong with the answer itself."""

    def __init__(self, head, method):
        line, *fields = head.split(b"\r\n")
        match = STATUS_LINE.match(line)
        self.flaws = [] if match else [f"status line {line!r}"]
        self.status = int(match[1]) if match else 0
        self.fields = []
        self.method = method
        self.body = b""
        self.cut = False
        for field in fields:
            match = FIELD.match(field)
            if match:
                self.fields.append((match[1].decode().lower(),
                                    (match[2] or b"").decode()))
            else:
                self.flaws.append(f"line {field!r}")
        self.check_fields()

    def values(self, name):
        return [value for key, value in self.fields if key == name]

    def has_body(self):
        return (self.status >= 200 and self.status not in (204, 304)
                and self.method != "HEAD")

    def closes(self):
        return "close" in ",".join(self.values("connection")).lower()

    def check_fields(self):
        if self.status >= 200:
            self.check_date()
        lengths = self.values("content-length")
        codings = self.values("transfer-encoding")
        if len(lengths) > 1 or not all(v.isdecimal() for v in lengths):
            self.flaws.append(f"Content-Length {lengths}")
        if lengths and codings:
            self.flaws.append("two lengths")
        if (lengths or codings) and (self.status < 200 or self.status == 204):
            self.flaws.append("a length of no body")
        if codings not in ([], ["chunked"]):
            self.flaws.append(f"Transfer-Encoding {codings}")
        if self.status == 405 and not self.values("allow"):
            self.flaws.append("405 without Allow")
        if self.status in (301, 302) and len(self.values("location")) != 1:
            self.flaws.append("no Location")

    def check_date(self):
        dates = self.values("date")
        if len(dates) != 1 or not DATE.match(dates[0]):
            self.flaws.append(f"Date {dates}")
            return
        age = (datetime.datetime.now(datetime.timezone.utc)
               - email.utils.parsedate_to_datetime(dates[0]))
        if abs(age) > datetime.timedelta(minutes=5):
            self.flaws.append(f"Date {dates} is not now")

    def take_body(self, rest):
        """Returns what follows the body, or None if the body is incomplete."""
        if not self.has_body():
            return rest
        if self.values("transfer-encoding"):
            return self.take_chunks(rest)
        if not self.values("content-length"):
            self.body = rest
            return b""
        length = int(self.values("content-length")[0])
        self.body = rest[:length]
        return rest[length:] if len(rest) >= length else None

    def take_chunks(self, rest):
        while True:
            size, found, rest = rest.partition(b"\r\n")
            if not found or not re.fullmatch(rb"[0-9a-fA-F]+", size):
                return None
            size = int(size, 16)
            if rest[size:size + 2] != b"\r\n":
                return None
            self.body += rest[:size]
            rest = rest[size + 2:]
            if size == 0:
                return rest


def split_answers(came, methods):
    """Returns (answers to requests with those methods, and to the canary, the rest).
    An incomplete answer is `cut`, and the last."""
    answers = []
    methods = [*methods, "GET"]
    while came.startswith(b"HTTP/"):
        head, found, rest = came.partition(b"\r\n\r\n")
        if not found:
            break
        answer = Answer(head, methods[0])
        rest = answer.take_body(rest)
        answers.append(answer)
        if rest is None:
            answer.cut = True
            return answers, b""
        if answer.status >= 200 and len(methods) > 1:
            methods.pop(0)
        came = rest
    return answers, came


# --- one case --------------------------------------------------------------------

@dataclasses.dataclass
class Result:
    case: Case
    server: Server
    words: str
    flaws: list
    unsaid: bool  # the connection was closed after an answer that did not announce it
    came: bytes

    def is_ours(self):
        """A server refuses a body after the start of an answer by cutting the
        answer."""
        if self.words.endswith("cut close") and self.server.streams \
                and self.case.in_body:
            return not self.flaws and any(
                not pattern.startswith("ok") for pattern in self.case.ours)
        return not self.unsaid and self.matches(self.case.ours)

    def is_allowed(self):
        return self.matches(self.case.ours + self.case.others)

    def matches(self, patterns):
        return not self.flaws and any(fnmatch.fnmatchcase(self.words, pattern)
                                      for pattern in patterns)

    def __str__(self):
        wanted = " or ".join(self.case.ours + self.case.others)
        return (f"{self.case.name} (RFC {self.case.rfc}): {self.words}"
                f"{''.join(', ' + f for f in self.flaws)}"
                f"{', close is not said' if self.unsaid else ''}; wanted: {wanted}; "
                f"sent {b'|'.join(w or b'' for w in self.case.writes)[:300]!r}, "
                f"got {self.came[:300]!r}")


def read(connection, enough):
    """Returns (what comes until `enough` of it or the end, whether it came in time)."""
    came = b""
    while not enough(came):
        try:
            piece = connection.recv(65536)
        except ConnectionResetError:
            break
        except socket.timeout:
            return came, False
        if not piece:
            break
        came += piece
    return came, True


def talk(connection, server, case, patience):
    """Returns (what came, whether all of it came in time)."""
    came, in_time = b"", True
    connection.settimeout(patience)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    texts = [text and server.fill(text) for text in case.writes]
    half_close = case.half_close or case.endless and server.streams
    if not half_close:
        texts[-1] += server.last_request()
    try:
        for i, text in enumerate(texts):
            if text is None:
                more, _ = read(connection, lambda got: b"\r\n\r\n" in got)
                came += more
                continue
            if i and texts[i - 1] is not None:
                server.wait_read()
            connection.sendall(text)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError):
        pass  # it was refused
    more, in_time = read(connection, lambda got: False)
    return came + more, in_time


def words_of(server, case, answers, rest, in_time):
    words = []
    methods = [*case.all_methods(), "GET"]
    for answer in answers:
        if answer.cut:
            words.append("cut")
        elif server.canary_mark in answer.body + answer_location(answer):
            words.append("canary")
        elif server.smuggled_mark in answer.body + answer_location(answer):
            words.append("SMUGGLED")
        elif answer.status >= 200 and answer.status in server.statuses(
                case, methods[0]):
            words.append("ok")
        else:
            words.append(str(answer.status))
        if answer.status >= 200 and len(methods) > 1:
            methods.pop(0)
    if rest:
        words.append("raw")
    if not in_time:
        words.append("hang")
    elif words[-1:] != ["canary"]:
        words.append("close")
    return " ".join(words)


def answer_location(answer):
    return "".join(answer.values("location")).encode()


def ask(server, case, patience=PATIENCE):
    with socket.create_connection(("127.0.0.1", server.port),
                                  PATIENCE) as connection:
        came, in_time = talk(connection, server, case, patience)
    answers, rest = split_answers(came, case.all_methods())
    words = words_of(server, case, answers, rest, in_time)
    flaws = [flaw for answer in answers for flaw in answer.flaws]
    unsaid = bool(answers and in_time and not answers[-1].closes()
                  and not case.half_close)
    return Result(case, server, words, flaws, unsaid, came)
