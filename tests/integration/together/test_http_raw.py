"""The cases of support/http_cases.py against our listeners, and against nginx to show
that they are fair."""
import fnmatch
import functools

import pytest

from support.http_cases import CASES
from support.keys import API_KEY
from support.raw_http import Case, Server, ask
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, domains_config, links, make_links, start)
from support.server import NginxServer

# A backend of the loop is an entry here: the settings of a redirector that uses it.
BACKENDS = {"epoll": {}}

CANARY = "https://canary.example/"
SMUGGLED = "https://smuggled.example/"


def results(servers):
    """Yields (server, its result) of each case until a server hangs: the other cases
    would take a minute each, and most likely fail as well."""
    for server in servers:
        for case in CASES:
            result = ask(server, case)
            yield server, result
            if result.words.endswith("hang"):
                break
        server.close()


def report(record, name, failed):
    """The report is printed at the end of the run."""
    record("summary", f"{name}: {len(CASES) - len(failed)} of {len(CASES)} requests "
                      "are answered as they should be")


def check(record, servers):
    """Checks that all of the servers answer as ours should."""
    failed = {server.name: [] for server in servers}
    for server, result in results(servers):
        if not result.is_ours():
            failed[server.name].append(result)
    for name, those in failed.items():
        report(record, name, those)
    fail_with(f"{name}: {result}" for name, those in failed.items()
              for result in those)


def fail_with(texts):
    text = "\n\n".join(texts)
    if text:
        pytest.fail(text, pytrace=False)


# --- the redirector ----------------------------------------------------------------

def redirectors(links, port):
    """One server with three targets: a link in its cache, a code that Redis is queried
    for each time, and the root."""
    code = links.create()
    gone = links.create()
    links.redis.delete(links.key(gone))
    canary, smuggled = links.create(CANARY), links.create(SMUGGLED)

    def server(name, path, status):
        return Server(f"redirector {name}", port, path.encode(),
                      {"GET": {status}, "HEAD": {status}, None: {405}},
                      {"GET": {404}, "HEAD": {404}, None: {405}},
                      (f"/{canary}".encode(), CANARY.encode()),
                      (f"/{smuggled}".encode(), SMUGGLED.encode()))
    return [server("/link", f"/{code}", 302), server("/asked", f"/{gone}", 404),
            server("/", "/", 302)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_redirector(links, start, record_property, backend):
    made = start(threads=1, cache_negative_ttl="0s",
                 fallback_url="https://www.example.org/", **BACKENDS[backend])
    port = int(made.section["listen"].rsplit(":", 1)[1])
    check(record_property, redirectors(links, port))


# --- the allocator -----------------------------------------------------------------

def test_the_allocator(links, program, record_property):
    """Bodies are read as a whole for one path, and in pieces for the other."""
    sections = links.allocator.config
    made = program("allocator", {
        **sections, "allocator": {
            "keys_file": links.allocator.section["keys_file"], "threads": 1,
            # A batch that was cut off lasts until its lines are stored.
            "batches_max": 2000, "batches_per_account": 1999, "batch_in_flight": 4}})
    port = int(made.section["listen"].rsplit(":", 1)[1])
    canary, smuggled = links.create(CANARY), links.create(SMUGGLED)

    def server(path, status, content, streams):
        return Server(f"allocator {path}", port, path.encode(),
                      {"POST": {status}, None: {405}},
                      {"GET": {404}, None: {405}},
                      (f"/v1/links/{canary}".encode(), CANARY.encode()),
                      (f"/v1/links/{smuggled}".encode(), SMUGGLED.encode()),
                      f"Authorization: Bearer {API_KEY}\r\n".encode(), content,
                      streams)
    whole = server("/v1/links", 201, b"application/json", False)
    fail_with(str(result) for result in map(functools.partial(ask, whole),
                                            without_body(links))
              if not result.is_ours())
    check(record_property, [
        whole, server("/v1/links/batch", 200, b"application/x-ndjson", True)])


def without_body(links):
    """The cases whose answers have no body, with a link of their own."""
    code = links.create()
    etag = links.call("GET", f"/{code}/qr").headers["ETag"]

    def case(name, rfc, request, status):
        text = f"{request.format(code)} HTTP/1.1\r\n{{H}}If-None-Match: {etag}\r\n\r\n"
        return Case(name, rfc, (text.encode(),), ("ok canary",),
                    status=frozenset({status}))
    return [case("304", "9110 15.4.5", "GET /v1/links/{}/qr", 304),
            case("304 of HEAD", "9110 9.3.2", "HEAD /v1/links/{}/qr", 304),
            case("200 of HEAD", "9110 9.3.2", "HEAD /v1/links/{}", 200),
            case("204", "9110 15.3.5", "DELETE /v1/links/{}", 204)]


# --- nginx -------------------------------------------------------------------------

# The cases that quote a MUST and that nginx may fail.
NGINX = {
    "method *": "its 405 has no Allow",
    "a request as the body of TRACE": "its 405 has no Allow",
    "Host with *": "it takes any character but slashes, blanks and controls, any "
                   "text as port, and brackets without an address",
    "Host may have blanks around": "it takes no tab for a blank",
}
LOCATIONS = f"""
        location = /canary {{ return 302 {CANARY}; }}
        location = /smuggled {{ return 302 {SMUGGLED}; }}
        location / {{ return 302 https://example.org/; }}
"""


@pytest.fixture
def nginx(workdir):
    made = NginxServer(workdir / "nginx", LOCATIONS)
    yield made.start()
    made.kill()


@pytest.mark.long
def test_nginx_fails_only_what_the_rfc_demands(nginx, record_property):
    server = Server("nginx", nginx.port, b"/some/where", {None: {302}}, {None: {302}},
                    (b"/canary", CANARY.encode()), (b"/smuggled", SMUGGLED.encode()))
    failed = [r for _, r in results([server]) if not r.is_allowed()]
    report(record_property, "nginx", failed)
    fail_with(f"{'not known of nginx' if r.case.must else 'no MUST says so'}: {r}"
              for r in failed if not r.case.must or not any(
                  fnmatch.fnmatchcase(r.case.name, name) for name in NGINX))
