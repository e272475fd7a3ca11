"""The files that start the reclaimer: systemd, cron, Kubernetes.

Each is checked by the program that really reads it, if that is installed, and the
command line in each is given to the reclaimer itself.
"""
import re
import shlex
import shutil
import subprocess

import pytest
import yaml

import servers
from support.program import BIN
from support.reclaim import *  # noqa: F403, fixtures too

CONFIG = servers.ROOT / "config"
SERVICE = CONFIG / "systemd" / "shortloop-reclaimer.service"
TIMER = CONFIG / "systemd" / "shortloop-reclaimer.timer"
CRON = CONFIG / "cron.d" / "shortloop-reclaimer"
CRONJOB = CONFIG / "kubernetes" / "reclaimer-cronjob.yaml"


def unit(path):
    """Returns {"Section.Key": value} of a unit file."""
    found, section = {}, None
    for line in path.read_text().splitlines():
        if not line or line.startswith(("#", ";")):
            continue
        if line.startswith("["):
            section = line.strip("[]")
            continue
        key, _, value = line.partition("=")
        assert section and value, line
        found[f"{section}.{key}"] = value
    return found


def cron_line():
    lines = [line for line in CRON.read_text().splitlines()
             if line and not line.startswith("#") and "=" not in line[:8]]
    assert len(lines) == 1
    return lines[0]


def pod():
    return yaml.safe_load(CRONJOB.read_text())["spec"]["jobTemplate"]["spec"]


def container():
    found = pod()["template"]["spec"]["containers"]
    assert len(found) == 1
    return found[0]


# --- command lines -----------------------------------------------------------------

def commands():
    in_cron = re.match(r"(?:\S+ +){5}\S+ +(.*)>/dev/null$", cron_line())[1]
    return {
        "systemd": shlex.split(unit(SERVICE)["Service.ExecStart"]),
        "cron": shlex.split(in_cron),
        "kubernetes": container()["command"] + container()["args"],
    }


@pytest.mark.parametrize("where", ["systemd", "cron", "kubernetes"])
def test_the_program_takes_the_command_line(where, space, begin):
    """It is used unchanged, except for the test's configuration."""
    argv = commands()[where]
    assert argv[0].rsplit("/", 1)[-1] == "reclaimer"
    at = argv.index("-c")
    assert argv[at + 1] == "/etc/shortloop/shortloop.yaml"
    space.ended(0, 4)
    done = Done(begin(*argv[1:at], *argv[at + 2:]))
    assert done.status == 0, done
    assert space.blocks("pool") == list(range(5))


# --- systemd --------------------------------------------------------------------------

@pytest.fixture
def installed(workdir):
    """The unit files at the places of `make install`, for programs that exist."""
    for path in (SERVICE, TIMER):
        text = path.read_text().replace("/usr/local/bin", str(BIN))
        (workdir / path.name).write_text(text.replace("User=shortloop",
                                                      "User=root"))
    return workdir


@pytest.mark.skipif(not shutil.which("systemd-analyze"),
                    reason="systemd-analyze is not installed")
def test_systemd_finds_nothing_wrong(installed):
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=one",
         installed / TIMER.name, installed / SERVICE.name],
        capture_output=True, text=True, timeout=60)
    ours = [line for line in done.stderr.splitlines() if "reclaimer" in line]
    assert done.returncode == 0 and not ours, done.stderr


@pytest.mark.skipif(not shutil.which("systemd-analyze"),
                    reason="systemd-analyze is not installed")
def test_systemd_understands_when(installed):
    done = subprocess.run(
        ["systemd-analyze", "calendar", unit(TIMER)["Timer.OnCalendar"]],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_run_that_the_timer_missed_is_made_up_for():
    assert unit(TIMER)["Timer.Persistent"] == "true"


def test_the_service_is_a_job_that_is_tried_again_unless_a_person_is_needed():
    service = unit(SERVICE)
    assert service["Service.Type"] == "oneshot"
    assert service["Service.Restart"] == "on-failure"
    assert service["Service.RestartPreventExitStatus"] == "64 70 78"


def test_the_start_limit_lets_the_timer_and_the_retries_through():
    """Starts by the timer count, too."""
    service = unit(SERVICE)
    assert service["Unit.StartLimitIntervalSec"] == "10min"
    every = 10 * 60 / int(service["Service.RestartSec"])
    assert 2 < int(service["Unit.StartLimitBurst"]) < every


# --- cron --------------------------------------------------------------------------------

def test_the_cron_line_has_five_times_and_a_user():
    assert re.match(r"(\*/\d+|\*|\d+)( (\*|\d+)){4} +shortloop +/", cron_line())


# --- Kubernetes --------------------------------------------------------------------------

def test_the_cron_job_forbids_two_at_once_and_makes_up_for_missed_starts():
    job = yaml.safe_load(CRONJOB.read_text())
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "CronJob")
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    assert job["spec"]["startingDeadlineSeconds"] > 600


def test_the_cron_job_is_tried_again_unless_a_person_is_needed():
    assert pod()["backoffLimit"] > 0
    rule = pod()["podFailurePolicy"]["rules"][0]
    assert rule["action"] == "FailJob"
    assert rule["onExitCodes"]["values"] == [64, 70, 78]
    assert rule["onExitCodes"]["containerName"] == container()["name"]
    # podFailurePolicy is allowed only with this one.
    assert pod()["template"]["spec"]["restartPolicy"] == "Never"


def test_the_cron_job_mounts_what_the_configuration_names():
    spec = pod()["template"]["spec"]
    mounts = {m["name"]: m["mountPath"] for m in container()["volumeMounts"]}
    assert set(mounts) == {v["name"] for v in spec["volumes"]}
    assert mounts["config"] == "/etc/shortloop"
