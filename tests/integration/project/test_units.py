"""The systemd units: systemd's checks of them, what they forbid a program, and that our
programs work under them.

Tests that are marked `confined` run their programs under the units' restrictions
(support/unit.py), as test_whole_way.py does with all five; tests/run-long runs all.
"""
import mmap
import os
import re
import signal
import socket
import subprocess

import pytest

import servers
from support import unit
from support.keys import admin_keys
from support.program import BIN
from support.redirects import *  # noqa: F403, fixtures too

every_program = pytest.mark.parametrize("name", unit.PROGRAMS)
DAEMONS = [name for name in unit.PROGRAMS if name != "reclaimer"]


def analyze(*args):
    return subprocess.run(["systemd-analyze", *args], capture_output=True,
                          text=True, timeout=60)


# --- systemd's checks -------------------------------------------------------------

@every_program
def test_its_exposure_is_below_two(name):
    done = analyze("security", "--offline=true", "--no-pager", unit.path(name))
    exposure = re.search(r"Overall exposure level for .*: ([\d.]+) ", done.stdout)
    assert exposure and float(exposure[1]) < 2.0, done.stdout + done.stderr


@pytest.fixture
def installed(workdir):
    """The units as `make install` puts them, for programs and a user that exist."""
    for path in unit.UNITS.rglob("*.*"):
        if path.is_file():
            made = workdir / path.relative_to(unit.UNITS)
            made.parent.mkdir(exist_ok=True)
            text = path.read_text().replace("/usr/local/bin", str(BIN))
            made.write_text(text.replace("=shortloop\n", "=daemon\n"))
    return workdir


@every_program
def test_systemd_finds_nothing_wrong(name, installed):
    done = analyze("verify", "--man=no", "--recursive-errors=one",
                   installed / unit.path(name).name)
    ours = [line for line in done.stderr.splitlines() if "shortloop" in line]
    assert done.returncode == 0 and not ours, done.stderr


# --- contents of the units ----------------------------------------------------------

@pytest.mark.parametrize("name", DAEMONS)
def test_its_package_brings_what_reloads_it(name):
    """Debian has kill in procps, which a bare system lacks."""
    control = (servers.ROOT / "debian/control").read_text()
    package = re.search(rf"^Package: shortloop-{name}\n(.*?)^Desc", control,
                        re.M | re.S)[1]
    assert "ExecReload=/bin/kill" in unit.path(name).read_text()
    assert "procps" in package


@pytest.mark.parametrize("name", DAEMONS)
def test_an_upgrade_of_its_package_restarts_instances(name, tmp_path):
    script = (servers.ROOT / f"debian/shortloop-{name}.postinst").read_text()
    (tmp_path / "systemctl").write_text("#!/bin/sh\necho \"$@\"\n")
    (tmp_path / "systemctl").chmod(0o755)

    def said(*args):
        return subprocess.run(
            ["sh", "-c", script.replace("/run/systemd/system", str(tmp_path)),
             "postinst", *args], check=True, capture_output=True, text=True,
            env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}).stdout

    assert said("configure") == ""
    assert said("configure", "0.1.0") == \
        f"try-restart shortloop-{name}@*.service\n"

@every_program
def test_what_needs_a_person_is_not_repeated(name):
    said = unit.service(name)
    assert said["Restart"] == ["on-failure"]
    assert said["RestartPreventExitStatus"] == ["64 70 78"]


@pytest.mark.parametrize("name", DAEMONS)
def test_sighup_is_sent_to_who_reads_files_again(name):
    help_text = subprocess.run([BIN / name, "--help"], capture_output=True,
                               text=True, check=True).stdout
    assert ("ExecReload" in unit.service(name)) == (
        "SIGHUP is ignored" not in help_text)


@every_program
def test_a_program_starts_as_its_unit_starts_it(name, workdir):
    """The program runs up to the missing configuration file."""
    argv = unit.service(name)["ExecStart"][0].split()
    assert argv[0].rsplit("/", 1)[-1] == name
    argv[argv.index("-c") + 1] = str(workdir / "none.yaml")
    done = subprocess.run([BIN / name, *argv[1:]], capture_output=True, text=True)
    assert done.returncode == 78 and "none.yaml" in done.stderr, done.stderr


# --- restrictions --------------------------------------------------------------------

FORBIDDEN = ["io_uring_setup", "io_uring_enter", "ptrace", "mount", "bpf",
             "keyctl", "init_module", "setuid", "chroot", "unshare",
             "process_vm_readv", "perf_event_open", "reboot", "mknodat", "chown",
             "timer_create", "shmget", "execveat", "fork"]


@every_program
def test_calls_that_no_program_needs_end_it(name, confinement):
    answers = {call: confinement.call(name, call)[0] for call in FORBIDDEN}
    assert answers == dict.fromkeys(FORBIDDEN, -signal.SIGSYS)


@every_program
def test_calls_that_it_needs_are_let_through(name, confinement):
    for call, answer in (("epoll_create1", "EINVAL"), ("unlink", "EFAULT"),
                         ("connect", "EBADF"), ("clone3", "ENOSYS")):
        assert confinement.call(name, call, -1) == (0, f"{call}: {answer}\n")


@pytest.mark.parametrize("family, answer", [
    (socket.AF_INET, "done"), (socket.AF_INET6, "done"), (socket.AF_UNIX, "done"),
    (socket.AF_NETLINK, "EAFNOSUPPORT"), (socket.AF_PACKET, "EAFNOSUPPORT"),
    (socket.AF_VSOCK, "EAFNOSUPPORT")])
def test_other_families_of_addresses_are_refused(family, answer, confinement):
    assert confinement.call("redirector", "socket", family, socket.SOCK_DGRAM) == (
        0, f"socket: {answer}\n")


def test_memory_is_not_both_written_and_executed(confinement):
    ways = mmap.PROT_READ | mmap.PROT_WRITE
    kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    for name, ways, answer in (("redirector", ways, "done"),
                               ("redirector", ways | mmap.PROT_EXEC, "EPERM"),
                               ("collector", ways | mmap.PROT_EXEC, "done")):
        assert confinement.call(name, "mmap", 0, 4096, ways, kind, -1) == (
            0, f"mmap: {answer}\n")


@pytest.mark.proof
def test_a_program_without_a_call_that_it_needs_is_seen_to_end(
        confinement, program, links_config, redis, kafka):
    """The other tests would notice this end by SIGSYS."""
    made = program("redirector", {"links": links_config}, start=False)
    made.under = confinement.command("redirector", without=["epoll_wait"])
    made.start(ready=False)
    assert made.process.wait(60) == -signal.SIGSYS


@pytest.mark.confined
def test_a_file_outside_its_directories_is_read_only(program, workdir,
                                                     links_config, redis, kafka):
    if unit.no_mounts():
        pytest.skip(unit.no_mounts())
    made = program("allocator", {"links": links_config, "allocator": {
        "keys_file": str(admin_keys(workdir)),
        "audit_file": "/var/lib/shortloop-test-none.log"}}, start=False)
    status, log = made.run()
    assert status != 0 and "Read-only file system" in log, log


# --- messages to systemd ---------------------------------------------------------------

@pytest.fixture
def manager():
    """A socket for $NOTIFY_SOCKET; manager.next() returns the next message."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        name = f"\0shortloop-test-{os.getpid()}"
        s.bind(name)
        s.settimeout(60)
        yield type("Manager", (), {
            "env": {"NOTIFY_SOCKET": "@" + name[1:]},
            "next": staticmethod(lambda: s.recv(4096).decode())})


@pytest.mark.confined
def test_systemd_hears_of_start_reload_and_stop(manager, program, workdir, confinement,
                                                links_config, redis, kafka):
    """A program that listens is ready, even if Redis has no space.  The reload command
    runs under the unit, too."""
    made = program("allocator", {
        "links": links_config,
        "allocator": {"keys_file": str(admin_keys(workdir))}},
        start=False, env=manager.env)
    made.start(ready=False)
    assert manager.next() == "READY=1"
    reload = unit.service("allocator")["ExecReload"][0].split()
    assert reload[-1] == "$MAINPID"
    subprocess.run([*confinement.command("allocator"), *reload[:-1],
                    str(made.process.pid)], check=True)
    assert re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=\d+", manager.next())
    assert manager.next() == "READY=1"
    made.process.popen.terminate()
    assert manager.next() == "STOPPING=1"
    assert made.process.wait(60) == 0


def test_what_ends_a_redirector_for_a_restart_ends_others_too(
        program, workdir, links_config, redis, kafka):
    """For a program without kept sockets it is a stop."""
    ending = getattr(signal, unit.service("redirector")["RestartKillSignal"][0])
    for name, settings in (("allocator", {"keys_file": str(admin_keys(workdir))}),
                           ("redirector", {})):
        made = program(name, {"links": links_config, name: settings}, start=False)
        made.start(ready=False)
        made.wait_log("address=")
        made.process.signal(ending)
        assert made.process.wait(60) == 0, made.log()


def test_a_manager_that_is_gone_stops_nobody(program, links_config, redis, kafka):
    made = program("redirector", {"links": links_config}, start=False,
                   env={"NOTIFY_SOCKET": "/nonexistent/notify"})
    made.start(ready=False)
    made.wait_log("service manager not notified")
    assert made.process.running()
    assert made.stop() == 0
