"""A proxy between a program and its Redis that counts the commands, and stops or
ends everything at one of them.

    with RedisProxy(port) as proxy:
        proxy.end_at(7, reach=True)     the 7th command reaches Redis, its answer
                                        is dropped; then on_end() is called
        proxy.call_at(7, function)      calls function() before the 7th passes
        held = proxy.hold(b"l:{s7:3}:") the next command with these bytes waits
                                        (held.here; it is held.command) until
                                        held.release()
        held = proxy.hold_answer(b"MGET", b"abc")
                                        the same for the answer to the next that
                                        has all of these
        proxy.on_command = function     calls function(command) before each

A connection with a subscription is passed through unchanged from then on.

Commands of all connections have one common count, and pass one at a time, so
that there is exactly one order of events.
"""
import socket
import threading

from support.passage import shut


class RedisProxy:
    def __init__(self, redis_port, on_end=lambda: None):
        self.redis_port = redis_port
        self.on_end = on_end
        self.on_command = lambda command: None
        self.lock = threading.Lock()
        self.commands = []  # names, in order
        self.calls = {}
        self.held = []
        self.held_answers = []
        self.end = None
        self.ended = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sockets = []
        threading.Thread(target=self.listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def end_at(self, number, reach):
        self.end = number, reach

    def call_at(self, number, function):
        self.calls[number] = function

    def hold(self, words):
        self.held.append(Held([words]))
        return self.held[-1]

    def hold_answer(self, *words):
        self.held_answers.append(Held(words))
        return self.held_answers[-1]

    def close(self):
        """Refuses new connections and cuts all present ones."""
        self.ended = True
        shut(self.listener, *self.sockets)
        for sock in [self.listener, *self.sockets]:
            sock.close()

    def listen(self):
        while not self.ended:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,),
                             daemon=True).start()

    def serve(self, client):
        redis = socket.create_connection(("127.0.0.1", self.redis_port))
        self.sockets += [client, redis]
        with client, redis:
            asked, answers = Stream(client), Stream(redis)
            try:
                while True:
                    command = asked.value()
                    if name_of(command) == "SUBSCRIBE":
                        redis.sendall(command)
                        return pass_through(asked, answers)
                    self.on_command(command)
                    wait(self.held, command)
                    with self.lock:
                        answer = self.pass_on(command, redis, answers)
                    if answer is None:
                        return
                    wait(self.held_answers, command)
                    client.sendall(answer)
            except (OSError, EOFError):
                return

    def pass_on(self, command, redis, answers):
        """Returns the answer, or None if no client gets it."""
        if self.ended:
            return None
        self.commands.append(name_of(command))
        number = len(self.commands)
        if number in self.calls:
            self.calls.pop(number)()
        ends = self.end and self.end[0] == number
        if ends and not self.end[1]:
            self.finish()
            return None
        redis.sendall(command)
        answer = answers.value()
        if ends:
            self.finish()
            return None
        return answer

    def finish(self):
        self.on_end()
        self.close()


class Held:
    """A command, or an answer, that arrives late."""

    def __init__(self, words):
        self.words = words
        self.command = None
        self.here = threading.Event()
        self.gone = threading.Event()

    def release(self):
        self.gone.set()


def wait(all_held, command):
    for held in list(all_held):  # other holds may be set meanwhile
        if not held.here.is_set() and all(w in command for w in held.words):
            held.command = command
            held.here.set()
            held.gone.wait()


def pass_through(asked, answers):
    """Passes data both ways until one side ends."""
    def pump(source, to):
        try:
            while data := source.file.read1(65536):
                to.sock.sendall(data)
        except (OSError, ValueError):
            pass
        shut(source.sock, to.sock)
    threading.Thread(target=pump, args=(answers, asked), daemon=True).start()
    pump(asked, answers)


def name_of(command):
    """Returns the first word, and the sum of a script."""
    words = command.split(b"\r\n")
    name = words[2].upper().decode()
    return f"{name} {words[4].decode()[:8]}" if name == "EVALSHA" else name


class Stream:
    """Reads whole RESP2 values as raw bytes."""

    def __init__(self, sock):
        self.sock = sock
        self.file = sock.makefile("rb")

    def line(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError
        return line

    def value(self):
        line = self.line()
        kind, count = line[:1], line[1:-2]
        if kind == b"$" and int(count) >= 0:
            return line + self.bytes(int(count) + 2)
        if kind == b"*":
            return line + b"".join(self.value() for _ in range(int(count)))
        return line

    def bytes(self, count):
        data = self.file.read(count)
        if len(data) != count:
            raise EOFError
        return data
