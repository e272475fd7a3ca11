"""Generates realistic visits.

User agents are those of agents.py; addresses are drawn at random and kept if the geo
database knows their country.
"""

import ipaddress
import itertools
import random
import socket
from dataclasses import dataclass

import maxminddb

REFERRERS = [
    "", "", "", "", "https://www.google.com/", "https://www.bing.com/",
    "https://t.co/x1", "https://www.facebook.com/", "https://mail.google.com/",
    "https://news.ycombinator.com/",
]
LANGUAGES = ["en-US,en;q=0.9", "de-DE,de;q=0.9", "zh-CN,zh;q=0.8", "fr", "es"]


@dataclass(frozen=True)
class Address:
    text: str
    country: str


@dataclass(frozen=True)
class Visit:
    code: str
    user_agent: str
    address: Address
    verdict: str  # by construction; "human": a person


def draw_addresses(city_path, count, rng):
    """Draws public IPv4 addresses whose country the database knows."""
    found = []
    with maxminddb.open_database(city_path, maxminddb.MODE_MMAP) as db:
        while len(found) < count:
            ip = ipaddress.IPv4Address(rng.getrandbits(32))
            if not ip.is_global or ip.is_multicast:
                continue
            country = (db.get(str(ip)) or {}).get("country_code")
            if country:
                found.append(Address(str(ip), country))
    return found


def make_visits(codes, count, people, robots, addresses, robot_share, rng):
    """Makes `count` visits; codes are chosen by Zipf's law in their given
    order.
    """
    agents, weights = people
    chosen = rng.choices(
        codes, [1 / (i + 1) for i in range(len(codes))], k=count
    )
    humans = iter(rng.choices(agents, weights, k=count))
    for code in chosen:
        robot = rng.random() < robot_share
        agent, verdict = (rng.choice(robots) if robot
                          else (next(humans), "human"))
        yield Visit(code, agent, rng.choice(addresses), verdict)


def _request(host, visit, rng):
    referrer = rng.choice(REFERRERS)
    return (
        f"GET /{visit.code} HTTP/1.1\r\n"
        f"Host: {host}\r\n"
        f"User-Agent: {visit.user_agent}\r\n"
        f"X-Forwarded-For: {visit.address.text}\r\n"
        f"Accept-Language: {rng.choice(LANGUAGES)}\r\n"
        + (f"Referer: {referrer}\r\n" if referrer else "")
        + "\r\n"
    ).encode()


class Connection:
    """A keep-alive connection that sends batches of pipelined requests."""

    def __init__(self, host, port):
        self.host = f"{host}:{port}"
        self.socket = socket.create_connection((host, port), timeout=15)
        self.input = self.socket.makefile("rb", 1 << 18)

    def close(self):
        self.input.close()
        self.socket.close()

    def send(self, visits, rng):
        """Returns one (status, location) per visit, in order."""
        self.socket.sendall(
            b"".join(_request(self.host, v, rng) for v in visits)
        )
        return [self._read_answer() for _ in visits]

    def _read_answer(self):
        status_line = self.input.readline()
        if not status_line:
            raise ConnectionError("the redirector closed the connection")
        status, length, location = int(status_line.split()[1]), 0, None
        while (line := self.input.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            elif name.lower() == b"location":
                location = value.strip().decode()
        self.input.read(length)
        return status, location


def batches(items, size):
    items = iter(items)
    while batch := list(itertools.islice(items, size)):
        yield batch


def new_random():
    return random.Random()
