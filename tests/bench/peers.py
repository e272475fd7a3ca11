"""Peers that are built here: small Rust programs around a crate."""
import os
import shutil
import subprocess

from machine import BUILD, ROOT, Failure


def build(name):
    """Builds tests/bench/<name>; a copy of it, where cargo may write."""
    cargo = shutil.which("cargo") or os.path.expanduser("~/.cargo/bin/cargo")
    if not os.path.exists(cargo):
        raise Failure("cargo is not installed; try `tools/deps.sh bench`")
    project = BUILD / "bench" / name
    shutil.copytree(ROOT / "tests" / "bench" / name, project,
                    dirs_exist_ok=True)
    done = subprocess.run([cargo, "build", "-q", "--release"], cwd=project,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"cargo: {done.stderr.strip()[-500:]}")
    return project / "target" / "release" / name
