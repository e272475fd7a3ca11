"""The load generator of tests/bench, bench_load, as visitors of a redirector.

The module has fixtures; a test module imports those it uses."""
import json
import subprocess

import pytest

import servers


@pytest.fixture(scope="session")
def bench_load(tmp_path_factory):
    tool = tmp_path_factory.mktemp("load") / "bench_load"
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", tool,
                    servers.ROOT / "tests/bench/bench_load.c"], check=True)
    return tool


class Load:
    """Visits at a rate, on that many connections, until stop(), for `seconds` at most;
    each connection carries `each` visits, or has no limit.  `options`: "-r", the
    redirector may be restarted, or "-k", also killed, and others of bench_load."""

    def __init__(self, tool, redirector, codes, rate, connections, each=0,
                 options=("-r",), seconds=600):
        port = redirector.section["listen"].rpartition(":")[2]
        self.process = subprocess.Popen(
            [*servers.END_WITH_PARENT, tool, *options, port, f"@{codes}", str(seconds),
             str(connections), str(rate), str(each)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()

    def running(self):
        return self.process.poll() is None

    def stop(self):
        """Returns how many visits were answered, all with 302 except
        .result["others"]."""
        self.process.terminate()
        out, said = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, said
        self.result = json.loads(out)
        return self.result["requests"]
