"""tools/deps.sh, of which a copy runs with an apt-get that only records its
arguments."""
import os
import shutil
import subprocess

import pytest

import servers

SERVERS = ["redis-server", "nginx", "haproxy"]
TOOLS = {
    "dpkg-query": "",
    "id": "echo 0",
    # Every package has the first of two names.
    "apt-cache": 'echo "Package: $2"',
    "apt-get": """case " $* " in *" install "*)
    echo "$@" >{top}/installed
    cp {top}/policy-rc.d {top}/policy-then
    for name in {servers}; do touch {top}/units/$name.service; done
    exit {status} ;;
esac""",
    "systemctl": 'echo "$@" >>{top}/systemctl',
    # The part after the packages is not tested.
    "npm": "exit 1",
}


@pytest.fixture
def host(tmp_path):
    """host(status, ...) returns the output of deps.sh with these arguments, on a host
    whose apt-get ends with that status."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "stack").symlink_to(servers.ROOT / "stack")
    (tmp_path / "bin").mkdir()
    (tmp_path / "units").mkdir()
    shutil.copytree(servers.ROOT / "tools/packages", tmp_path / "tools/packages")
    text = (servers.ROOT / "tools/deps.sh").read_text()
    for theirs, ours in ("/usr/sbin/policy-rc.d", f"{tmp_path}/policy-rc.d"), (
            "/lib/systemd/system", f"{tmp_path}/units"):
        text = text.replace(theirs, ours)
    (tmp_path / "tools/deps.sh").write_text(text)

    def run(status, *args):
        for name, script in TOOLS.items():
            path = tmp_path / "bin" / name
            path.write_text("#!/bin/sh\n" + (script.format(
                top=tmp_path, status=status, servers=" ".join(SERVERS))
                if "{top}" in script else script) + "\n")
            path.chmod(0o755)
        return subprocess.run(
            ["bash", tmp_path / "tools/deps.sh", *args], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={
                **os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
    return run


def installed(top):
    words = (top / "installed").read_text().split()
    return set(words[words.index("--no-install-recommends") + 1:])


@pytest.mark.parametrize("args", [["build"], ["deb"], ["build", "deb"]])
def test_a_host_that_builds_gets_no_servers(host, tmp_path, args):
    said = host(0, *args)
    assert "npm ci failed" in said.stdout, said.stdout
    packages = installed(tmp_path)
    assert "librdkafka-dev" in packages
    assert not packages & {*SERVERS, "nginx-light", "libcmocka-dev"}
    assert ("debhelper" in packages) == ("deb" in args)


def test_servers_that_it_brings_are_no_services(host, tmp_path):
    """The servers are neither started nor enabled; one that was a service before stays
    one."""
    (tmp_path / "units/nginx.service").touch()
    said = host(0)
    assert "npm ci failed" in said.stdout, said.stdout
    assert {"redis-server", "haproxy", "libcmocka-dev"} <= installed(tmp_path)
    policy = tmp_path / "policy-then"
    for name, status in ("redis-server.service", 101), ("haproxy", 101), (
            "nginx.service", 0), ("ssh", 0):
        assert subprocess.run(["sh", policy, name, "start"]).returncode == status
    assert (tmp_path / "systemctl").read_text() == (
        "disable redis-server.service\ndisable haproxy.service\n")
    assert not (tmp_path / "policy-rc.d").exists()


def test_a_failed_installation_leaves_no_policy(host, tmp_path):
    assert "apt-get install failed" in host(1).stdout
    assert (tmp_path / "policy-then").exists()
    assert not (tmp_path / "policy-rc.d").exists()


def test_a_policy_of_the_operator_is_left_alone(host, tmp_path):
    (tmp_path / "policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    host(0)
    assert (tmp_path / "policy-rc.d").read_text() == "#!/bin/sh\nexit 101\n"
    assert "disable redis-server.service\n" in (tmp_path / "systemctl").read_text()
