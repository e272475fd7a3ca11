"""What a process holds, looked at all the time."""
import pathlib
import threading

MIB = 1 << 20


def status(pid):
    """{field: bytes} of /proc/<pid>/status."""
    found = {}
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if value.endswith(" kB"):
            found[name] = int(value.split()[0]) * 1024
    return found


class MemoryWatch:
    """with MemoryWatch(program) as memory: ...; memory.peak, in bytes.

    Mapped files do not count.  The kernel's own high-water mark has them in it,
    so they are taken off that, and looks at the anonymous memory are beside."""

    def __init__(self, program, every=0.02):
        self.pid = program.process.pid
        self.every = every
        self.anonymous = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def look(self):
        while not self.ended.wait(self.every):
            try:
                self.anonymous = max(self.anonymous,
                                     status(self.pid)["RssAnon"])
            except (OSError, KeyError):
                return

    @property
    def peak(self):
        now = status(self.pid)
        return max(self.anonymous, now["VmHWM"] - now["RssFile"])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
