"""A client that acts like the dashboard's page: it sends its queries at once, as a
browser does."""
import concurrent.futures
import http.client
import json
import re
import threading
import time
import urllib.parse

from machine import ROOT, Failure

CONNECTIONS = 6  # connections of a browser to one server
APP = (ROOT / "web/app.js").read_text(encoding="utf-8")


def said(name):
    """Returns a constant of the page's script."""
    return json.loads(re.search(rf"^const {name} = (.*);$", APP, re.MULTILINE)[1])


DIMENSIONS, ROWS, REFRESH_S = said("DIMENSIONS"), said("ROWS"), said("REFRESH") / 1000


class Refused(Failure):
    """The server answered 429."""


class Page:
    """One browser; its connections are kept."""

    def __init__(self, url, headers=None, timeout=60):
        self.address = urllib.parse.urlsplit(url).netloc
        self.headers = headers or {}
        self.timeout = timeout
        self.own = threading.local()
        self.all = []
        self.pool = concurrent.futures.ThreadPoolExecutor(CONNECTIONS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pool.shutdown()
        for connection in self.all:
            connection.close()

    def get(self, path, params):
        connection = getattr(self.own, "connection", None)
        if not connection:
            connection = self.own.connection = http.client.HTTPConnection(
                self.address, timeout=self.timeout)
            self.all.append(connection)
        connection.request("GET", path + "?" + urllib.parse.urlencode(params),
                           headers=self.headers)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise (Refused if answer.status == 429 else Failure)(f"{path}: {answer.status} {body[:200]!r}")
        return json.loads(body)

    def at_once(self, *questions):
        return [f.result() for f in [self.pool.submit(self.get, path, params)
                                     for path, params in questions]]

    def load(self, interval="day", tz="UTC", **about):
        """Does what load() of web/app.js does; returns the seconds until everything is
        there, and the total.  `about` is the range and the owner of the clicks."""
        start = time.monotonic()
        clicks = {"interval": interval, "tz": tz, "bots": "include", **about}
        whole, _ = self.at_once(("/v1/clicks", clicks),
                                ("/v1/clicks", {**clicks, "bots": "exclude"}))
        parts = [("/v1/clicks", {**clicks, "group_by": name, "interval": "month", "limit": ROWS})
                 for name in DIMENSIONS]
        if "code" not in about:
            parts.append(("/v1/top", {"bots": "include", "limit": ROWS, "tz": tz, **about}))
        self.at_once(*parts)
        return time.monotonic() - start, whole["total"]
