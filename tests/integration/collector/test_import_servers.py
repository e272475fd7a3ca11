"""Logs that servers wrote themselves, in their default formats: an import recognises
each.  The formats of servers that Debian does not have are in
tests/unit/collector/test_access_format.c, from their documentation."""
import dataclasses
import os
import shutil
import time

import pytest
import requests
import servers
from support.events import CHROME
from support.program import PATIENCE, eventually
from test_import import importer  # noqa: F401 (a fixture)

FORWARDED = "203.0.113.12, 198.51.100.7"
HEADERS = {"User-Agent": CHROME, "Referer": "https://from.example/", "Host": "go.example"}


@dataclasses.dataclass
class Server:
    """A format of a server: what writes it, how it is recognised, its fields."""
    program: str
    config: str
    command: list
    found: str            # by an import without --format
    name: str             # for --format
    domain: str = ""
    address: str = "127.0.0.1"
    agent: bool = True
    format: str = ""


NGINX = """
daemon off; pid {dir}/nginx.pid; error_log {dir}/error.log; events {{ }}
http {{
    client_body_temp_path {dir}; proxy_temp_path {dir}; fastcgi_temp_path {dir};
    uwsgi_temp_path {dir}; scgi_temp_path {dir};
    log_format main '$remote_addr - $remote_user [$time_local] "$request" '
                    '$status $body_bytes_sent "$http_referer" '
                    '"$http_user_agent" "$http_x_forwarded_for"';
    access_log {log} {format};
    server {{ listen 127.0.0.1:{port}; return 302 https://to.example/; }}
}}
"""
# The same formats as in Debian's /etc/apache2/apache2.conf.
APACHE = """
ServerRoot {dir}
ServerName go.example
PidFile {dir}/apache.pid
DefaultRuntimeDir {dir}
ErrorLog {dir}/error.log
Listen 127.0.0.1:{port}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule alias_module /usr/lib/apache2/modules/mod_alias.so
User nobody
LogFormat "%v:%p %h %l %u %t \\"%r\\" %>s %O \\"%{{Referer}}i\\" \\"%{{User-Agent}}i\\"" vhost_combined
LogFormat "%h %l %u %t \\"%r\\" %>s %O \\"%{{Referer}}i\\" \\"%{{User-Agent}}i\\"" combined
LogFormat "%h %l %u %t \\"%r\\" %>s %O" common
CustomLog {log} {format}
Redirect 302 / https://to.example/
"""
LIGHTTPD = """
server.document-root = "{dir}"
server.bind = "127.0.0.1"
server.port = {port}
server.modules = ("mod_redirect", "mod_accesslog")
accesslog.filename = "{log}"
url.redirect = ("" => "https://to.example/")
url.redirect-code = 302
"""
HAPROXY = """
global
    log stdout format raw local0
defaults
    mode http
    log global
    {format}
    timeout client 10s
    timeout connect 10s
    timeout server 10s
frontend web
    bind 127.0.0.1:{port}
    http-request redirect location https://to.example/ code 302
"""
CADDY = """{{
    admin off
    auto_https off
}}
http://:{port} {{
    bind 127.0.0.1
    log {{
        output file {log}
    }}
    redir https://to.example/ 302
}}
"""


def nginx(**more):
    return Server("nginx", NGINX, ["nginx", "-e", "{dir}/error.log", "-c", "{config}"], **more)


def apache(**more):
    return Server("apache2", APACHE, ["apache2", "-DFOREGROUND", "-f", "{config}"], **more)


def haproxy(**more):
    return Server("haproxy", HAPROXY, ["haproxy", "-db", "-f", "{config}"], **more)


WRITTEN = {
    "nginx": nginx(found="combined", name="nginx", format="combined"),
    "nginx main": nginx(found="main", name="main", format="main", address="203.0.113.12"),
    "apache combined": apache(found="combined", name="apache", format="combined"),
    "apache common": apache(found="common", name="common", format="common", agent=False),
    "apache vhosts": apache(found="vhost_combined", name="vhost_combined",
                            format="vhost_combined", domain="go.example"),
    "lighttpd": Server("lighttpd", LIGHTTPD, ["lighttpd", "-D", "-f", "{config}"],
                       found="lighttpd", name="lighttpd", domain="go.example"),
    "haproxy": haproxy(found="haproxy", name="haproxy", format="option httplog",
                       agent=False),
    "haproxy clf": haproxy(found="combined", name="combined", format="option httplog clf",
                           agent=False),
    "caddy": Server("caddy", CADDY, ["caddy", "run", "--adapter", "caddyfile", "--config",
                                     "{config}"],
                    found="json", name="caddy", domain="go.example",
                    address="203.0.113.12"),
}


def write_log(server, directory):
    """Runs a server that writes a log of three visits, and ends it."""
    directory.mkdir()
    port = servers.free_port()
    log, config = directory / "access.log", directory / "server.conf"
    # A worker that is not root writes it, too.
    directory.chmod(0o777)
    known = {"dir": directory, "log": log, "config": config, "port": port,
             "format": server.format}
    config.write_text(server.config.format(**known))
    process = servers.Process(
        server.program, [part.format(**known) for part in server.command],
        directory / "stdout.log",
        env={**os.environ, "HOME": str(directory), "XDG_DATA_HOME": str(directory),
             "XDG_CONFIG_HOME": str(directory)})
    url = f"http://127.0.0.1:{port}"
    try:
        servers.wait_ready(process, lambda: answers(url), PATIENCE)
        for path in ("abc?utm_source=news", "favicon.ico"):
            answer = requests.get(f"{url}/{path}", allow_redirects=False, timeout=PATIENCE,
                                  headers={**HEADERS, "X-Forwarded-For": FORWARDED})
            assert answer.status_code == 302
        source = log if "{log}" in server.config else directory / "stdout.log"
        # Threads of a server do not write in the order of their answers.
        eventually(lambda: source.exists() and all(
            word in source.read_bytes() for word in (b"/abc", b"/favicon.ico")),
            what=f"the log of {server.program}")
    finally:
        process.kill()
    # Other lines are messages of the program itself, in the same file.
    lines = [line for line in source.read_text().splitlines(keepends=True)
             if "ready-or-not" not in line and ("abc" in line or "favicon" in line)]
    assert len(lines) == 2, source.read_text()
    log.write_text("".join(lines))
    return log


def answers(url):
    try:
        return requests.get(f"{url}/ready-or-not", allow_redirects=False, timeout=1,
                            headers=HEADERS).ok
    except requests.RequestException:
        return False


@pytest.mark.proof
@pytest.mark.first
def test_what_servers_write_is_imported_by_name_and_by_itself(
        tables, importer, workdir):  # noqa: F811
    missing = sorted({s.program for s in WRITTEN.values()
                      if not shutil.which(s.program, path=os.environ["PATH"] + ":/usr/sbin")})
    assert not missing, "make deps installs them"
    begun = int(time.time()) - 1
    run = importer()
    for number, (title, server) in enumerate(WRITTEN.items()):
        log = write_log(server, workdir / f"server-{number}")
        force = [] if server.agent else ["--force"]
        if force:
            run(log, "--dry-run", expect=65)
            assert "none has a user agent" in run.err
        for how in ([], ["--format", server.name]):
            out = run(log, "--identity", f"{number}{len(how)}", *how, *force)
            assert f"({how[1] if how else server.found}, " in out, title
            assert "1 became clicks" in out and "no code, as /favicon.ico" in out, title
            row, = tables.rows(
                "SELECT code, domain, query, status, outcome, ua_family, referrer_host, "
                "toString(ip) AS address, toUnixTimestamp(ts) AS clicked FROM clicks "
                f"WHERE topic = 'import:{number}{len(how)}'")
            assert begun <= row.pop("clicked") <= time.time() + 1, title
            assert row == {
                "code": "abc", "query": "utm_source=news", "status": 302,
                "outcome": "redirected", "domain": server.domain,
                "ua_family": "Chrome" if server.agent else row["ua_family"],
                "referrer_host": "from.example" if server.agent else "",
                "address": f"::ffff:{server.address}"}, title
