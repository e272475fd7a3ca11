"""Peers that are built here: small programs that use a crate or Go modules."""
import os
import shutil
import subprocess

from machine import BUILD, ROOT, Failure


def copy_of(name):
    """Copies tests/bench/<name> to a place where compilers may write."""
    project = BUILD / "bench" / name
    shutil.copytree(ROOT / "tests" / "bench" / name, project,
                    dirs_exist_ok=True)
    return project


def run(tool, argv, project):
    done = subprocess.run(argv, cwd=project, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise Failure(f"{tool}: {done.stderr.strip()[-500:]}")


def build(name):
    """Builds tests/bench/<name> with cargo."""
    cargo = shutil.which("cargo") or os.path.expanduser("~/.cargo/bin/cargo")
    if not os.path.exists(cargo):
        raise Failure("cargo is not installed; try `tools/deps.sh bench`")
    project = copy_of(name)
    run("cargo", [cargo, "build", "-q", "--release"], project)
    return project / "target" / "release" / name


def build_go(name):
    """Builds tests/bench/<name> with go."""
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not os.path.exists(go):
        raise Failure("go is not installed; try `tools/deps.sh bench`")
    project = copy_of(name)
    run("go", [go, "build", "-o", name, "."], project)
    return project / name
