"""The samples of config/front: Debian's nginx and HAProxy terminate TLS and HTTP/2, and
the redirector behind them knows the client."""
import concurrent.futures
import ipaddress
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
import yaml

import servers
from support.program import PATIENCE
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, clicks, domains_config, links, make_links, start)

SAMPLES = servers.ROOT / "config/front"
CLIENT, OTHER = "127.0.0.7", "127.0.0.8"


class Front:
    """A proxy that runs a sample; only its paths and addresses are changed, to those of
    the test."""

    def __init__(self, directory, sample):
        self.directory = directory
        self.sample = sample
        self.socket = f"{directory}/r.sock"
        self.http, self.https = servers.free_port(), servers.free_port()
        self.certificate()

    def certificate(self):
        """HAProxy reads the key of a certificate X from X.key."""
        chain = self.directory / "fullchain.pem"
        key = self.directory / "privkey.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
             "/CN=s.example", "-addext", "subjectAltName=DNS:s.example",
             "-keyout", key, "-out", chain], check=True, capture_output=True)
        shutil.copy(key, f"{chain}.key")
        self.chain = chain

    def config(self, *more):
        text = (SAMPLES / self.sample).read_text()
        for old, new in (
                ("/run/shortloop/redirector.sock", self.socket),
                ("/etc/shortloop/tls/", f"{self.directory}/"), *more):
            assert old in text, f"{self.sample} has no {old}"
            text = text.replace(old, new)
        path = self.directory / self.sample
        path.write_text(text)
        return path

    def start(self, command):
        self.process = servers.Process(self.sample, command,
                                       self.directory / "front.log")
        servers.wait_ready(self.process, self.answers, PATIENCE)
        return self

    def curl(self, path, *options, source=CLIENT, check=True):
        """Returns (status, version of HTTP, Location)."""
        done = subprocess.run(
            ["curl", "-sS", "--max-time", str(PATIENCE), "--interface", source,
             "--cacert", self.chain, "--resolve",
             f"s.example:{self.https}:127.0.0.1", "-o", os.devnull, "-w",
             "%{http_code} %{http_version} %header{location}\n", *options,
             f"https://s.example:{self.https}/{path}"],
            capture_output=True, text=True, check=False)
        if check:
            assert done.returncode == 0, done.stderr
        return tuple(done.stdout.split())

    def answers(self):
        """The request goes through the proxy, so its check of the redirector is
        over."""
        return self.curl("no.code", check=False)[:1] == ("404",)

    def redirect(self):
        """Returns the target of a request over plain HTTP."""
        done = subprocess.run(
            ["curl", "-sS", "-o", os.devnull, "-w",
             "%{http_code} %header{location}", "-H", "Host: s.example",
             f"http://127.0.0.1:{self.http}/abc?d=e"],
            capture_output=True, text=True, check=True)
        return done.stdout


def start_nginx(front):
    own = front.directory
    (own / "tmp").mkdir()
    path = front.config(
        ("listen 80;", f"listen 127.0.0.1:{front.http};"),
        ("listen 443 ", f"listen 127.0.0.1:{front.https} "),
        ("user www-data;", "user root;"),
        ("/run/nginx.pid", f"{own}/nginx.pid"),
        ("/var/log/nginx/error.log", f"{own}/error.log"),
        ("http {\n", "http {\n" + "".join(
            f"    {name}_temp_path {own}/tmp/{name};\n" for name in
            ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))))
    return front.start(["nginx", "-p", own, "-e", own / "error.log", "-c",
                        path, "-g", "daemon off;"])


def start_haproxy(front):
    path = front.config(
        ("bind :80\n", f"bind 127.0.0.1:{front.http}\n"),
        ("bind :443 ", f"bind 127.0.0.1:{front.https} "),
        ("    user haproxy\n", ""), ("    group shortloop\n", ""),
        # Not every host permits as many descriptors as the sample needs.
        ("maxconn 20000", "maxconn 1000"))
    return front.start(["haproxy", "-db", "-f", path])


# How each proxy is started, and the redirector's settings from its sample.
FRONTS = {
    "nginx.conf": (start_nginx, {"trusted_proxies": ["unix"],
                                 "client_header": "x-real-ip"}),
    "haproxy.cfg": (start_haproxy, {"proxy_protocol": ["unix"]}),
}


@pytest.fixture(params=FRONTS)
def world(request, start, links):
    """A redirector and a proxy in front of it; the redirector has a link for the
    code."""
    start_front, settings = FRONTS[request.param]
    with tempfile.TemporaryDirectory(prefix="shortloop-") as directory:
        front = Front(pathlib.Path(directory), request.param)
        front.redirector = start(listen_unix=front.socket, **settings)
        front.code = links.create("https://example.org/x")
        try:
            yield start_front(front)
        finally:
            if hasattr(front, "process"):
                front.process.kill()


def clients(events):
    return sorted(str(ipaddress.ip_address(e.client_ip)) for e in events)


def test_the_event_says_whom_the_proxy_saw(world, clicks):
    found = ("302", "2", "https://example.org/x")
    assert world.curl(world.code, "--http2") == found
    assert world.curl(world.code, "--http1.1", source=OTHER) == \
        ("302", "1.1", "https://example.org/x")
    # A visitor cannot set the address.
    assert world.curl(world.code, "--http2", "-H", "X-Real-IP: 192.0.2.1",
                      "-H", "X-Forwarded-For: 192.0.2.2",
                      "-H", "Forwarded: for=192.0.2.3") == found
    events = clicks(world.redirector, 3)
    assert clients(events) == [CLIENT, CLIENT, OTHER]
    assert {e.domain for e in events} == {"s.example"}


def test_connections_are_kept_and_each_client_stays_itself(world, clicks):
    """Five clients at a time make twenty visits each on one connection."""
    sources = [f"127.0.0.{n}" for n in range(10, 15)]
    paths = [f"https://s.example:{world.https}/{world.code}"] * 19
    outputs = ["-o", os.devnull] * 19
    with concurrent.futures.ThreadPoolExecutor(len(sources)) as pool:
        for _ in pool.map(lambda source: world.curl(
                world.code, "--http2", *outputs, *paths, source=source),
                sources):
            pass
    events = clicks(world.redirector, 100)
    assert clients(events) == sorted(sources * 20)
    metric = world.redirector.metric
    # A connection for each visit would be more.  The proxy's checks are among them, as
    # many as there was time for, which is no fault.
    assert metric("shortloop_http_connections_total",
                  listener="redirector") < 100
    assert metric("shortloop_http_refused_total", listener="redirector") == 0


def test_plain_http_leads_to_https(world):
    assert world.redirect() == "301 https://s.example/abc?d=e"


def test_envoys_sample_is_yaml():
    sample = yaml.safe_load((SAMPLES / "envoy.yaml").read_text())
    [cluster] = sample["static_resources"]["clusters"]
    assert cluster["transport_socket"]["typed_config"]["config"] == {
        "version": "V2"}


@pytest.mark.parametrize("sample", [*FRONTS, "envoy.yaml"])
def test_the_settings_that_a_sample_names_are_accepted(program, links_config,
                                                       sample):
    comment = (SAMPLES / sample).read_text().split("#\tredirector:\n")[1]
    lines = []
    for line in comment.splitlines():
        if not line.startswith("#\t"):
            break
        lines.append(line[2:])
    settings = yaml.safe_load("\n".join(lines))
    assert settings["listen_unix"] in (SAMPLES / sample).read_text()
    for name, value in FRONTS.get(sample, (None, {}))[1].items():
        assert settings[name] == value
    checked = program("redirector", {"links": links_config,
                                     "redirector": settings},
                      start=False, args=["--check"])
    assert checked.run()[0] == 0, checked.log()
