"""A service manager like systemd: it listens at $NOTIFY_SOCKET, keeps the descriptors
that come with FDSTORE=1, and hands them to the next start.

It implements systemd's protocol (sd_notify(3), sd_listen_fds(3)), not systemd itself.
"""
import array
import contextlib
import fcntl
import os
import signal
import socket
import threading

from support import unit
from support.program import PATIENCE, eventually

# Descriptors are passed from here on, so that their numbers do not collide.
ABOVE = 200


class Manager:
    """manager.start(program), .restart(program), .stop(program); `states` is what came,
    in order, `store` what is kept: {name: [descriptor, ...]}."""

    def __init__(self, offer=True):
        self.name = f"shortloop-test-{os.getpid()}-{id(self):x}"
        self.offer = offer
        self.states = []
        self.store = {}
        self.unit_sockets = {}  # sockets of a socket unit: {name: socket}
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + self.name)
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()
        self.drop_store()

    def drop_store(self):
        """Does what happens when a service is stopped."""
        for name in [*self.store]:
            self._remove(name)

    def _listen(self):
        room = socket.CMSG_SPACE(8 * array.array("i").itemsize)
        while True:
            text, control, _, _ = self.socket.recvmsg(4096, room)
            if not text:
                return
            fds = array.array("i")
            for level, kind, data in control:
                assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
                fds.frombytes(data)
            self._take(dict(line.split("=", 1)
                            for line in text.decode().splitlines()), list(fds))

    def _take(self, said, fds):
        if said.get("FDSTORE") == "1":
            assert said["FDPOLL"] == "0" and len(fds) == 1
            self.store.setdefault(said["FDNAME"], []).extend(fds)
        elif said.get("FDSTOREREMOVE") == "1":
            self._remove(said["FDNAME"])
        else:
            assert not fds
        self.states.append(said)

    def _remove(self, name):
        for fd in self.store.pop(name, []):
            os.close(fd)

    def _ready(self):
        return sum("READY" in said for said in self.states)

    def start(self, program, ready=True):
        """Hands over the stored descriptors as 3, 4, ...; returns once the program
        reports that it is ready."""
        kept = [(name, fd) for name, fds in self.store.items() for fd in fds]
        kept += [(name, s.fileno()) for name, s in self.unit_sockets.items()]
        before = self._ready()
        copies = []
        for _, fd in kept:  # each program gets a copy, closed here
            copies.append(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, ABOVE))
        moves = " ".join(f"{3 + i}<&{fd} {fd}<&-" for i, fd in enumerate(copies))
        env = {"NOTIFY_SOCKET": "@" + self.name}
        if self.offer:
            said = unit.service("redirector")
            assert said["FileDescriptorStoreMax"]
            env |= dict(line.split("=", 1) for line in said["Environment"])
        if kept:
            env |= {"LISTEN_FDS": str(len(kept)),
                    "LISTEN_FDNAMES": ":".join(name for name, _ in kept)}
        under, program.under = program.under, [
            "bash", "-c", f'exec {moves}; LISTEN_PID=$$ exec "$0" "$@"',
            *program.under]
        try:
            program.env = env
            program.pass_fds = copies
            program.start(ready=False)
        finally:
            program.under, program.pass_fds = under, ()
            for fd in copies:
                os.close(fd)
        if ready:
            eventually(lambda: self._ready() > before
                       or not program.process.running(), what="READY=1")
            assert program.process.running(), program.log()
        return program

    def restart(self, program):
        """Does what systemctl restart does: the store is kept."""
        ending = unit.service("redirector")["RestartKillSignal"][0]
        program.process.signal(getattr(signal, ending))
        assert program.process.wait(PATIENCE) == 0, program.log()
        self.start(program)

    def stop(self, program):
        status = program.stop()
        self.drop_store()
        return status


@contextlib.contextmanager
def running(**options):
    manager = Manager(**options)
    try:
        yield manager
    finally:
        manager.close()
