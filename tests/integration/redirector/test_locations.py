"""Where visitors land: at one place, whatever their client makes of a Location.

Clients of four families follow the same redirects to a server that records the
requests."""
import functools
import http.server
import pathlib
import random
import re
import socket
import subprocess
import threading
import urllib.request

import pytest

from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, domains_config, links, make_links, start, visit)

SUPPORT = pathlib.Path(__file__).parents[1] / "support"
# The characters that RFC 3986 allows in a path, a query and a fragment.
PCHARS = r"(?:[-A-Za-z0-9._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*"
URI = re.compile(rf"[a-z]+:{PCHARS}(?:\[[0-9a-f:]+\]{PCHARS})?(?:#{PCHARS})?")

# The text after the host; the requested target, as a URI.
TARGETS = [
    ("/路径", "/%E8%B7%AF%E5%BE%84"),
    ("/a|b", "/a%7Cb"),
    ('/a"b', "/a%22b"),
    ("/a<b>", "/a%3Cb%3E"),
    ("/{a}^`", "/%7Ba%7D%5E%60"),
    ("/100%", "/100%25"),
    ("/%zz%2", "/%25zz%252"),
    ("/%2541", "/%2541"),
    ("/%e8%B7%AF", "/%e8%B7%AF"),
    ("/a[1]", "/a%5B1%5D"),
    ("/?a[]=1&b=ä", "/?a%5B%5D=1&b=%C3%A4"),
    ("/?q=a\\b", "/?q=a%5Cb"),
    ("/?q=😀|%", "/?q=%F0%9F%98%80%7C%25"),
    ("/p?a=b#路|", "/p?a=b"),
    ("/#a#b", "/"),
    ("/;a=b,c/(d)!*:@$&+=/~", "/;a=b,c/(d)!*:@$&+=/~"),
    ("/?a=b?c/d:@;,!$()*+", "/?a=b?c/d:@;,!$()*+"),
]


def made_up(count):
    rng = random.Random(40)
    letters = 'ab09-_~!$&()*+,;=:@%|"<>{}^`[]äß路径🦊é'

    def word():
        # No client drops the end of it: urllib drops a semicolon at a path's end.
        return "".join(rng.choices(letters, k=rng.randint(1, 12))) + "z"

    for _ in range(count):
        yield (f"/{word()}/x{word()}" + (f"?{word()}" if rng.random() < .6 else "")
               + (f"#{word()}" if rng.random() < .3 else ""))


class Target(http.server.ThreadingHTTPServer):
    """Answers everything, and records the requests."""
    daemon_threads = True

    def __init__(self):
        self.asked = []
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.server.asked.append(self.requestline.split(" ")[1])
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass


@pytest.fixture
def target():
    with Target() as server:
        yield server
        server.shutdown()


# --- clients ---------------------------------------------------------------------

def run(command, urls):
    done = subprocess.run(command, input="\n".join(urls) + "\n", text=True,
                          capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def java(urls):
    run(["java", str(SUPPORT / "Visit.java")], urls)


def node(urls):
    run(["node", "-e", """
        const urls = require("fs").readFileSync(0, "utf8").trim().split("\\n");
        (async () => { for (const url of urls) await fetch(url); })();
    """], urls)


def curl(urls):
    run(["curl", "-sL", "--globoff", "-K", "-"],
        [f'url = "{url}"\noutput = "/dev/null"' for url in urls])


def python(urls):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for url in urls:
        opener.open(url, timeout=60).close()


CLIENTS = [java, node, curl, python]


@functools.cache
def java_lacks():
    """An installed Java may have no compiler, which Visit.java needs."""
    modules = subprocess.run(["java", "--list-modules"], capture_output=True,
                             text=True).stdout
    return "" if "jdk.compiler" in modules else "this Java compiles nothing"


@pytest.fixture(params=CLIENTS, ids=lambda client: client.__name__)
def client(request):
    if request.param is java and java_lacks():
        pytest.skip(java_lacks())
    return request.param


def normal(place):
    """WHATWG's URLs escape an apostrophe in a query, others do not."""
    return place.replace("%27", "'")


def follow(client, target, urls):
    del target.asked[:]
    client(urls)
    return [normal(place) for place in target.asked]


# --- links -----------------------------------------------------------------------

@pytest.mark.proof
def test_a_client_lands_where_the_link_leads(links, start, target, client):
    redirector = start()
    codes = [links.create(target.url + rest) for rest, _ in TARGETS]
    assert follow(client, target, [f"{redirector.url}/{c}" for c in codes]) == [
        place for _, place in TARGETS]


@pytest.mark.proof
def test_a_client_lands_where_a_record_from_elsewhere_leads(links, start, target,
                                                            client):
    redirector = start()
    codes = [links.create() for _ in TARGETS]
    for code, (rest, _) in zip(codes, TARGETS):
        links.edit(code, url=target.url + rest)
    assert follow(client, target, [f"{redirector.url}/{c}" for c in codes]) == [
        place for _, place in TARGETS]


@pytest.mark.proof
def test_all_clients_land_at_the_same_place(links, start, target):
    redirector = start()
    codes = [links.create(target.url + rest) for rest in made_up(120)]
    urls = [f"{redirector.url}/{code}" for code in codes]
    want = []
    for url in urls:
        location = visit(url).headers["Location"]
        assert URI.fullmatch(location), location
        want.append(normal(location.removeprefix(target.url).partition("#")[0]))
    for client in CLIENTS[1:] if java_lacks() else CLIENTS:
        assert follow(client, target, urls) == want, client.__name__


def test_each_target_is_a_uri(links, start):
    redirector = start()
    code = links.create("https://a.example/ä", targets={
        "ios": "https://M\u00fcnchen.example/|", "android": "https://b.example/%"})
    for agent, location in [("iPhone", "https://xn--mnchen-3ya.example/%7C"),
                            ("Android", "https://b.example/%25"),
                            ("X11", "https://a.example/%C3%A4")]:
        assert visit(f"{redirector.url}/{code}", headers={
            "User-Agent": agent}).headers["Location"] == location


# --- parts of the visit that are passed on, and fallbacks ------------------------

def raw_location(redirector, target):
    """Requests itself would encode what it sends."""
    host, port = redirector.section["listen"].split(":")
    with socket.create_connection((host, int(port)), timeout=60) as s:
        s.sendall(b"GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                  % target)
        answer = s.makefile("rb").read().decode("latin-1")
    return re.search(r"^Location: (.*)\r$", answer, re.M)[1]


@pytest.mark.parametrize("sent, place", [
    (b"/100%?q=%", "/p/100%25?q=%25"),
    (b"/a|b^?{x}=`[]", "/p/a%7Cb%5E?%7Bx%7D=%60%5B%5D"),
    (b"/a?q=\xe8\xb7\xaf&\xff", "/p/a?q=%E8%B7%AF&%FF"),
    (b'/"<>%E8?"<>%e8', "/p/%22%3C%3E%E8?%22%3C%3E%e8")])
def test_what_a_visit_hands_on_is_a_uri(links, start, sent, place):
    redirector = start()
    code = links.create("https://a.example/p", pass_query="add", pass_path=True)
    assert raw_location(redirector, b"/" + code.encode() + sent) == (
        "https://a.example" + place)


def test_fallbacks_are_uris(links, start):
    redirector = start(fallback_url="https://M\u00fcnchen.example/路?a=|#%")
    assert raw_location(redirector, b"/") == (
        "https://xn--mnchen-3ya.example/%E8%B7%AF?a=%7C#%25")


def test_the_fallback_of_a_domain_is_a_uri(links, start):
    redirector = start(domains={"list": [{
        "name": "main", "hosts": ["a"], "fallback_url": "https://b.example/ä|"}]})
    assert raw_location(redirector, b"/") == "https://b.example/%C3%A4%7C"
