"""A systemd unit: its settings, and programs under its restrictions.

Tests have no systemd to start a unit.  confine.c applies what a unit requests of the
kernel (system calls, address families, memory, namespaces, descriptors, capabilities
and, for root, what may be written).
"""
import functools
import os
import pathlib
import re
import resource
import socket
import subprocess
import tempfile

import servers

UNITS = servers.ROOT / "config/systemd"
SANDBOX = UNITS / "shortloop-.service.d/10-sandbox.conf"
PROGRAMS = ("redirector", "allocator", "collector", "aggregator", "reclaimer")
DENIED = {"MemoryDenyWriteExecute": "wx", "RestrictNamespaces": "namespaces",
          "RestrictRealtime": "realtime", "RestrictSUIDSGID": "suid"}


def path(name):
    return UNITS / f"shortloop-{name}.service"


def read(*files):
    """Returns {"Section.Key": [value, ...]}; an empty value removes those before it."""
    found, section = {}, None
    for line in "\n".join(f.read_text() for f in files).splitlines():
        if not line or line[0] in "#;":
            continue
        if line[0] == "[":
            section = line.strip("[]")
            continue
        key, equals, value = line.partition("=")
        assert section and equals, line
        values = found.setdefault(f"{section}.{key}", [])
        values.append(value)
        if not value:
            values.clear()
    return found


def service(name):
    """Returns {"Key": [value, ...]} of a program's unit and the files read beside
    it."""
    return {key.removeprefix("Service."): values
            for key, values in read(path(name), SANDBOX).items()
            if key.startswith("Service.")}


_groups = {}


def expand(word):
    """Returns the calls that a word of SystemCallFilter= names."""
    if not word.startswith("@"):
        return {word}
    if word not in _groups:
        text = subprocess.run(["systemd-analyze", "syscall-filter", word],
                              check=True, capture_output=True, text=True).stdout
        words = re.findall(r"^    ([@\w]+)$", text, re.M)
        assert words, text
        _groups[word] = set().union(*map(expand, words))
    return _groups[word]


def allowed_calls(said):
    calls = set()
    for line in said["SystemCallFilter"]:
        assert not line.startswith("~"), "only what is allowed is understood"
        calls |= set().union(*map(expand, line.split()))
    return calls | expand("@default")


def is_set(said, key):
    return said.get(key, ["no"])[-1] in ("yes", "true")


@functools.cache
def no_mounts():
    """Returns the reason why no file system can be made read-only here, or ""."""
    if os.geteuid() != 0:
        return "only root can make file systems read-only"
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True)
    # A container's root may not do that, nor may one in a chroot that is no mount.
    return "" if done.returncode == 0 else (
        "no namespace of mounts can be had: " + done.stderr.strip())


def rules(said, writable):
    """Returns the rules that confine.c reads."""
    assert said["SystemCallArchitectures"] == ["native"]
    lines = [f"allow {call}" for call in sorted(allowed_calls(said))]
    lines += [f"family {int(getattr(socket, family))}" for line in
              said["RestrictAddressFamilies"] for family in line.split()]
    lines += [f"deny {what}" for key, what in DENIED.items() if is_set(said, key)]
    if "LimitNOFILE" in said:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        lines.append(f"nofile {min(int(said['LimitNOFILE'][-1]), most)}")
    if said["ProtectSystem"] == ["strict"] and not no_mounts():
        lines += [f"writable {os.path.realpath(folder)}" for folder in writable]
    if said["CapabilityBoundingSet"] == [] and os.geteuid() == 0:
        lines.append("capabilities none")
    return "\n".join(lines) + "\n"


class Confinement:
    """Makes the commands that start a program under its unit's restrictions."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(exist_ok=True)
        self.launcher = self.directory / "confine"
        # Tests have their files in the run's directory; PrivateTmp= has a /tmp.
        self.writable = [self.directory.parent, tempfile.gettempdir()]
        subprocess.run(
            ["cc", "-O1", "-o", self.launcher,
             servers.ROOT / "tests/integration/support/confine.c", "-lseccomp"],
            check=True)

    def command(self, name, without=()):
        """Returns the command prefix for the program; `without` removes calls."""
        file = self.directory / "-".join([name, *without])
        if not file.exists():
            text = rules(service(name), self.writable)
            for call in without:
                assert f"allow {call}\n" in text
                text = text.replace(f"allow {call}\n", "")
            file.write_text(text)
        return [self.launcher, file]

    def call(self, name, call, *args):
        """Returns the result of a system call under that program's unit: (status,
        text)."""
        done = subprocess.run([*self.command(name), "call", call,
                               *(str(int(a)) for a in args)],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr
