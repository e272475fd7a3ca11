"""The memory of a process, sampled all the time."""
import pathlib
import socket
import xml.etree.ElementTree

from support.repeating import Repeating

MIB = 1 << 20


def status(pid):
    """Returns {field: bytes} of /proc/<pid>/status."""
    found = {}
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if value.endswith(" kB"):
            found[name] = int(value.split()[0]) * 1024
    return found


def heap_in_use(path):
    """Returns the allocated bytes of malloc in a program that runs with heap_info.c and
    HEAP_INFO=path.  Free memory that malloc keeps does not count."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(path))
        with s.makefile() as answer:
            told = xml.etree.ElementTree.fromstring(answer.read())

    def size(element):
        return int(told.find(element).get("size"))
    free = size("total[@type='fast']") + size("total[@type='rest']")
    return size("system[@type='current']") - free + size("total[@type='mmap']")


class MemoryWatch(Repeating):
    """with MemoryWatch(program) as memory: ...; memory.peak, in bytes.

    Mapped files do not count.  The kernel's own high-water mark includes them, so they
    are subtracted from it; samples of the anonymous memory are a second source."""

    def __init__(self, program, every=0.02):
        super().__init__(every)
        self.pid = program.process.pid
        self.anonymous = 0

    def step(self):
        try:
            self.anonymous = max(self.anonymous, status(self.pid)["RssAnon"])
        except (OSError, KeyError):
            self.ended.set()

    @property
    def peak(self):
        now = status(self.pid)
        return max(self.anonymous, now["VmHWM"] - now["RssFile"])
