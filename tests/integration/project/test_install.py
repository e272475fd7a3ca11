"""`make install`: the installed files, and that they work in place."""
import re
import shlex
import shutil
import subprocess

import pytest
import yaml

import servers
from support import unit
from support.program import BIN, PATIENCE, Program

BUILT = [f"B={BIN.parent}", "SANITIZE=", "CC=false"]
DAEMONS = [name for name in unit.PROGRAMS if name != "reclaimer"]
PREFIX = "/opt/links"

EXPECTED = sorted([
    *(f"bin/{name}" for name in unit.PROGRAMS),
    *(f"share/man/man8/{name}.8" for name in unit.PROGRAMS),
    *(f"lib/systemd/system/shortloop-{name}.service" for name in unit.PROGRAMS),
    *(f"lib/systemd/system/shortloop-{name}@.service" for name in DAEMONS),
    "lib/systemd/system/shortloop-.service.d/10-sandbox.conf",
    "lib/systemd/system/shortloop-reclaimer.timer",
    "lib/sysusers.d/shortloop.conf",
    *(f"share/shortloop/{name}" for name in (
        "crawler-user-agents.json", "isbot-patterns.json", "referrers.json",
        "pages/app.html", "pages/mini_program.html", "regexes.yaml", "web/api.js",
        "web/app.js", "web/chart.js", "web/figures.js", "web/icon.svg", "web/index.html", "web/style.css",
        "web/uplot/uPlot.iife.min.js", "web/uplot/uPlot.min.css")),
    *(f"share/doc/shortloop/{name}" for name in (
        "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md",
        "config/shortloop.yaml", "examples/cron.d/shortloop-reclaimer",
        *(f"examples/front/{name}" for name in (
            "envoy.yaml", "haproxy.cfg", "nginx.conf")),
        "examples/kubernetes/reclaimer-cronjob.yaml",
        *(f"examples/prometheus/shortloop-{name}.rules.yaml" for name in (
            "aggregator", "allocator", "collector", "redirector")),
        "schemas/click.proto", "schemas/counters.proto", "schemas/link.proto",
        "schemas/renewal.proto",
        "schemas/openapi/aggregator.yaml", "schemas/openapi/allocator.yaml")),
    *(f"share/doc/shortloop/docs/{page.name}"
      for page in (servers.ROOT / "docs").glob("*.md")),
])


def make(target, root):
    done = subprocess.run(
        ["make", target, f"DESTDIR={root}", f"PREFIX={PREFIX}", *BUILT],
        cwd=servers.ROOT, capture_output=True, text=True, umask=0o077)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    # It is called with a path as a user types it, and under a root's umask.
    path = tmp_path_factory.mktemp("a root")
    make("install", path)
    yield path
    shutil.rmtree(path)


def files(root):
    return sorted(str(path.relative_to(root)) for path in root.rglob("*")
                  if not path.is_dir())


@pytest.mark.proof
def test_all_is_there_and_nothing_else(root):
    assert files(root) == [f"{PREFIX[1:]}/{name}" for name in EXPECTED]


def test_links_of_pages_lead_to_pages_that_are_there(root):
    pages = [*(root / PREFIX[1:] / "share/doc/shortloop").rglob("*.md")]
    broken = [(page.name, link) for page in pages
              for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
              if not (page.parent / link).exists()]
    assert len(pages) > 10 and not broken, broken


def test_nothing_names_another_prefix(root):
    """The exceptions are manual pages, which describe the default paths."""
    for path in (root / PREFIX[1:]).rglob("*.service"):
        assert "/usr/local" not in path.read_text(), path
        assert f"\nExecStart={PREFIX}/bin/" in path.read_text(), path
    sample = root / PREFIX[1:] / "share/doc/shortloop/config/shortloop.yaml"
    assert "/usr/local" not in sample.read_text()
    assert f"ua_rules: {PREFIX}/share/shortloop/regexes.yaml" in sample.read_text()


def test_files_are_for_all_to_read_and_programs_to_run(root):
    for name in EXPECTED:
        mode = (root / PREFIX[1:] / name).stat().st_mode & 0o777
        assert mode == (0o755 if name.startswith("bin/") else 0o644), name
    for path in (root / PREFIX[1:]).rglob("*"):
        assert not path.is_dir() or path.stat().st_mode & 0o777 == 0o755, path


@pytest.mark.parametrize("name", DAEMONS)
def test_a_template_reads_the_configuration_of_its_instance(name, root):
    units = root / PREFIX[1:] / "lib/systemd/system"
    one = (units / f"shortloop-{name}.service").read_text()
    many = (units / f"shortloop-{name}@.service").read_text()
    assert " -c /etc/shortloop/%i.yaml\n" in many and "(%i)\n" in many
    # Each has a state directory of its own: two redirectors share no spool.
    assert many.replace("%i.yaml", "shortloop.yaml").replace(" (%i)", "").replace(
        " shortloop/%i", "") == one


@pytest.mark.parametrize("name", unit.PROGRAMS)
def test_a_manual_page_is_the_programs(name, root):
    text = (root / PREFIX[1:] / f"share/man/man8/{name}.8").read_text()
    assert text.startswith(".Dd ") and f".Nm {name}\n" in text


def test_a_program_runs_from_there_as_its_unit_says(root, workdir, base_config):
    """It uses the sample, except for the ports and the secret."""
    home = root / PREFIX[1:]
    sample = (home / "share/doc/shortloop/config/shortloop.yaml").read_text()
    config = yaml.safe_load(sample)
    key = workdir / "s7.key"
    key.write_text("0123456789abcdef0123456789abcdef")
    config["links"]["spaces"][0]["keys"][0]["key"] = f"file:{key}"
    config["redis"], config["kafka"] = base_config["redis"], base_config["kafka"]
    for where in ("listen", "admin"):
        config["redirector"][where] = f"127.0.0.1:{servers.free_port()}"
    text = (home / "lib/systemd/system/shortloop-redirector.service").read_text()
    argv = shlex.split(re.search(r"^ExecStart=(.*)$", text, re.M)[1])
    binary = root / argv[0][1:]
    made = Program("redirector", config, workdir, binaries=binary.parent)
    made.start(ready=False)
    try:
        servers.wait_ready(made.process, lambda: made.ready()[0] == 503, PATIENCE)
        assert "redis: " in made.ready()[1]
        assert made.stop() == 0
    finally:
        made.process.kill()


@pytest.mark.proof
def test_uninstall_leaves_nothing(workdir):
    root = workdir / "a root"
    make("install", root)
    make("uninstall", root)
    assert files(root) == []


def test_a_manual_page_is_made_with_its_program():
    """Another user cannot remove files that root makes at the installation."""
    done = subprocess.run(
        ["make", "-n", "all", "B=build/none", "SANITIZE=", *BUILT[2:]],
        cwd=servers.ROOT, capture_output=True, text=True)
    for name in unit.PROGRAMS:
        assert f"build/none/bin/{name} --print-man" in done.stdout
