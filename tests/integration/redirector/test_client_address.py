"""The client of a visit: PROXY headers, X-Real-IP, and peers at a Unix socket."""
import ipaddress
import os
import socket
import stat
import struct
import tempfile

import pytest

from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, clicks, domains_config, links, make_links, start)

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
LOCAL = SIGNATURE + b"\x20\0\0\0"


def v1(source):
    return f"PROXY TCP4 {source} 198.51.100.1 4711 443\r\n".encode()


def v2(source):
    ip = ipaddress.ip_address(source)
    family, to = ((0x11, "198.51.100.1") if ip.version == 4 else
                  (0x21, "2001:db8::1"))
    block = (ip.packed + ipaddress.ip_address(to).packed +
             struct.pack(">HH", 4711, 443))
    return SIGNATURE + bytes([0x21, family]) + struct.pack(">H",
                                                           len(block)) + block


def connect(where, source="127.0.0.1"):
    """Connects to (host, port) of an address, or to the path of a socket."""
    if isinstance(where, tuple):
        return socket.create_connection(where, timeout=60,
                                        source_address=(source, 0))
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(60)
    made.connect(where)
    return made


def ask(where, code, header=b"", source="127.0.0.1", **headers):
    """Returns the status of a visit on a connection of its own; 0: closed without an
    answer."""
    lines = [f"GET /{code} HTTP/1.1", "Host: s.example", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}"
              for name, value in headers.items()]
    with connect(where, source) as made:
        made.sendall(header + "\r\n".join([*lines, "", ""]).encode())
        answer = b""
        try:
            while part := made.recv(65536):
                answer += part
        except ConnectionResetError:
            pass  # closed with the request unread
    return int(answer.split()[1]) if answer else 0


def port_of(redirector):
    host, port = redirector.section["listen"].split(":")
    return host, int(port)


def clients(events):
    return [str(ipaddress.ip_address(e.client_ip)) if e.client_ip else None
            for e in events]


@pytest.fixture
def path():
    """Returns a short path for a socket: the directory of a test has too long a
    name."""
    with tempfile.TemporaryDirectory(prefix="shortloop-") as directory:
        yield f"{directory}/r.sock"


@pytest.mark.proof
def test_x_real_ip_is_the_third_header(links, start, clicks):
    redirector = start(trusted_proxies=["127.0.0.1"],
                       client_header="x-real-ip", threads=1)
    code = links.create()
    for source, headers in (
            ("127.0.0.1", {"X_Real_IP": "192.0.2.7"}),
            ("127.0.0.1", {"X_Real_IP": "2001:db8::7"}),
            ("127.0.0.1", {"X_Real_IP": "nobody"}),
            ("127.0.0.1", {"X_Real_IP": "192.0.2.7", "x_real_ip": "192.0.2.8"}),
            ("127.0.0.1", {"X_Forwarded_For": "192.0.2.7"}),
            ("127.0.0.2", {"X_Real_IP": "192.0.2.7"})):
        assert ask(port_of(redirector), code, source=source, **headers) == 302
    assert clients(clicks(redirector, 6)) == [
        "192.0.2.7", "2001:db8::7", "127.0.0.1", "127.0.0.1", "127.0.0.1",
        "127.0.0.2"]


def test_the_peer_is_whom_the_proxy_header_names(links, start, clicks):
    redirector = start(proxy_protocol=["127.0.0.2"],
                       trusted_proxies=["127.0.0.2", "10.0.0.0/8"], threads=1)
    where, code = port_of(redirector), links.create()
    for header, headers in (
            (v1("192.0.2.7"), {}),
            (v2("192.0.2.8"), {}),
            (v2("2001:db8::7"), {}),
            # The peer that the PROXY header names must be trusted for other headers to
            # count.
            (v2("192.0.2.8"), {"X_Forwarded_For": "192.0.2.9"}),
            (v2("10.0.0.1"), {"X_Forwarded_For": "192.0.2.9, 10.0.0.2"}),
            # No client is named: the request is the proxy's own.
            (LOCAL, {}),
            (LOCAL, {"X_Forwarded_For": "192.0.2.9"}),
            (b"PROXY UNKNOWN\r\n", {})):
        assert ask(where, code, header, "127.0.0.2", **headers) == 302
    assert ask(where, code) == 302
    assert clients(clicks(redirector, 9)) == [
        "192.0.2.7", "192.0.2.8", "2001:db8::7", "192.0.2.8", "192.0.2.9",
        "127.0.0.2", "192.0.2.9", "127.0.0.2", "127.0.0.1"]


def test_a_proxy_header_is_expected_of_some_and_read_of_no_others(
        links, start, clicks):
    redirector = start(proxy_protocol=["127.0.0.2"], threads=1)
    where, code = port_of(redirector), links.create()
    assert ask(where, code, v2("192.0.2.7")) == 400
    assert ask(where, code, v1("192.0.2.7")) == 400
    assert ask(where, code, source="127.0.0.2") == 0
    redirector.wait_log("PROXY header rejected")
    assert "peer=127.0.0.2" in redirector.log()
    assert ask(where, code, b"PROXY TCP4 1.2.3 1.2.3.4 1 2\r\n",
               "127.0.0.2") == 0
    redirector.wait_metric(2, "shortloop_http_refused_total",
                           listener="redirector", reason="proxy_header")
    assert ask(where, code, v1("192.0.2.7"), "127.0.0.2") == 302
    assert clients(clicks(redirector)) == ["192.0.2.7"]


def test_ipv4_peers_of_an_ipv6_socket_are_of_ipv4_networks(
        links, start, clicks, free_port, workdir):
    denied = workdir / "deny.txt"
    denied.write_text("127.0.0.9\n")
    port = free_port()
    redirector = start(listen=f"[::]:{port}", proxy_protocol=["127.0.0.2"],
                       trusted_proxies=["127.0.0.3"], deny_file=str(denied),
                       threads=1)
    code, v4 = links.create(), ("127.0.0.1", port)
    assert ask(v4, code, v1("192.0.2.7"), "127.0.0.2") == 302
    assert ask(v4, code, source="127.0.0.3",
               X_Forwarded_For="192.0.2.8") == 302
    assert ask(v4, code, source="127.0.0.9") == 403
    assert ask(v4, code) == 302
    assert ask(("::1", port), code, source="::1") == 302
    assert ask(("::1", port), code, v1("192.0.2.7"), "::1") == 400
    assert clients(clicks(redirector, 4)) == [
        "192.0.2.7", "192.0.2.8", "127.0.0.1", "::1"]


def test_peers_at_the_unix_socket_are_trusted_if_that_is_said(
        links, start, clicks, path):
    code = links.create()
    redirector = start(listen_unix=path, threads=1)
    assert ask(path, code, X_Forwarded_For="192.0.2.7") == 302
    assert clients(clicks(redirector)) == [None]

    redirector = start(listen_unix=path, trusted_proxies=["unix"],
                       threads=1)
    assert ask(path, code, X_Forwarded_For="192.0.2.7") == 302
    assert ask(path, code, X_Forwarded_For="192.0.2.7, 192.0.2.8") == 302
    assert ask(path, code) == 302
    assert ask(port_of(redirector), code, X_Forwarded_For="192.0.2.7") == 302
    assert clients(clicks(redirector)) == ["192.0.2.7", "192.0.2.8", None,
                                           "127.0.0.1"]


def test_peers_at_the_unix_socket_may_begin_with_a_proxy_header(
        links, start, clicks, path):
    redirector = start(listen_unix=path, proxy_protocol=["unix"], threads=1)
    code = links.create()
    assert ask(path, code, v2("192.0.2.7")) == 302
    assert ask(path, code, v2("2001:db8::7"),
               X_Forwarded_For="192.0.2.9") == 302
    assert ask(path, code) == 0
    redirector.wait_log("peer=unix")
    assert ask(port_of(redirector), code) == 302
    assert clients(clicks(redirector)) == ["192.0.2.7", "2001:db8::7",
                                           "127.0.0.1"]


def test_the_sockets_file_has_its_mode_and_goes_at_the_end(links, start, path):
    redirector = start(listen_unix=path, listen_unix_mode="0600")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    redirector.wait_log(f"address={path}")
    assert redirector.stop() == 0
    assert not os.path.exists(path)


def test_a_killed_redirectors_socket_is_replaced_and_a_live_ones_is_not(
        links, start, path):
    code = links.create()
    killed = start(listen_unix=path, threads=1)
    killed.kill()
    assert os.path.exists(path)
    live = start(listen_unix=path, threads=1)
    assert ask(path, code) == 302
    second = start(listen_unix=path, ready=False)
    eventually(lambda: not second.process.running(), what="an end")
    assert f"cannot listen on {path}: another process listens there" in \
        second.log()
    assert ask(path, code) == 302
    assert live.stop() == 0


def test_what_is_no_socket_is_left_where_it_is(start, path):
    with open(path, "w", encoding="ascii") as out:
        out.write("mine")
    redirector = start(listen_unix=path, ready=False)
    eventually(lambda: not redirector.process.running(), what="an end")
    assert "no socket" in redirector.log()
    with open(path, encoding="ascii") as kept:
        assert kept.read() == "mine"
