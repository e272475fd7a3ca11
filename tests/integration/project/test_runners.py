"""The last lines of `make test`: how many tests passed and failed, and which were
skipped, with the reason."""
import subprocess

import pytest

import servers

TESTS = servers.ROOT / "tests"


def program(directory, name, text, status=0):
    path = directory / name
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {status}\n")
    path.chmod(0o755)
    return path


def test_unit_tests_that_are_left_out_are_listed(workdir):
    some = program(workdir, "test_some", """[==========] Running 3 test(s).
[ RUN      ] one
[       OK ] one
[ RUN      ] two
skipped: there is no moon
[  SKIPPED ] two
[ RUN      ] three
[  SKIPPED ] three
[  SKIPPED ] 2 test(s), listed below:
[  SKIPPED ] two
[  SKIPPED ] three""")
    done = subprocess.run([TESTS / "run-unit", some], capture_output=True, text=True,
                          timeout=60, check=True)
    lines = done.stdout.splitlines()
    assert f"SKIPPED [1] {some}: two: there is no moon" in lines
    assert f"SKIPPED [1] {some}: three: no reason given" in lines
    assert lines[-1] == "1 passed, 0 failed, 2 skipped"


@pytest.mark.parametrize("status", [0, 1])
def test_what_suites_leave_out_is_listed_at_the_end(workdir, status):
    first = program(workdir, "first", """SKIPPED [2] test_a.py:3: there is no sun
3 passed, 2 skipped in 1.00s""")
    second = program(workdir, "second", "4 passed, 1 failed, 0 skipped" if status else
                     "4 passed, 0 failed, 0 skipped", status)
    done = subprocess.run(
        ["bash", "-c", f". {TESTS}/suites.sh; suite {first}; suite {second}; "
         "left_out third 'there is no third'; suites_end"],
        capture_output=True, text=True, timeout=60)
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[-4:] == ["3 tests were left out:",
                          "SKIPPED [1] third: there is no third",
                          "SKIPPED [2] test_a.py:3: there is no sun",
                          f"7 passed, {status} failed, 3 skipped"]
    assert done.returncode == status
