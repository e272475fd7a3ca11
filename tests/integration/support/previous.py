"""The programs of an earlier commit, for tests of upgrades.

A clone that does not have it (--depth 1) fails them: SHORTLOOP_PREVIOUS=none
leaves them out.
"""
import fcntl
import os
import subprocess

import pytest

import servers

# What was released last: its data and programs are what users upgrade from.
RELEASED = "b79b3706781f"
# Before settings, files and metrics got the glossary's names.
BEFORE_NAMES = "c8e59eafe37c"


def build(commit):
    """The directory of its programs, built once from what git has of it."""
    if os.environ.get("SHORTLOOP_PREVIOUS") == "none":
        pytest.skip("SHORTLOOP_PREVIOUS=none: upgrades are not tested")
    home = servers.DEPS / "previous"
    home.mkdir(parents=True, exist_ok=True)
    source = home / commit
    with open(home / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (source / "built").exists():
            _unpack(commit, source)
            _run(["make", f"-j{os.cpu_count()}", "all"], source)
            (source / "built").touch()
    return source / "build" / "bin"


def _unpack(commit, source):
    known = subprocess.run(
        ["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=servers.ROOT,
        capture_output=True, check=False)
    if known.returncode:
        pytest.fail(f"git has no commit {commit}, which the version before is "
                    "built from: run 'git fetch --unshallow', or set "
                    "SHORTLOOP_PREVIOUS=none to leave upgrades untested")
    source.mkdir(exist_ok=True)
    archive = subprocess.run(["git", "archive", commit], cwd=servers.ROOT,
                             stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "-x"], cwd=source, input=archive.stdout, check=True)


def _run(command, directory):
    """Shows what it printed when it fails."""
    clean = {k: v for k, v in os.environ.items()
             if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    done = subprocess.run(command, cwd=directory, env=clean, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout.decode()[-4000:]
