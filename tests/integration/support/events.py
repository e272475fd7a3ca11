"""Events in the topics' formats, and the identities of visitors."""
import itertools
import time

from support.protobuf import message

Click = message("click.proto", "shortloop.Click")
LinkEvent = message("link.proto", "shortloop.LinkEvent")

CHROME = ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 "
          "(KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36")
IPHONE = ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) "
          "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 "
          "Mobile/15E148 Safari/604.1")
GOOGLEBOT = ("Mozilla/5.0 (compatible; Googlebot/2.1; "
             "+http://www.google.com/bot.html)")

_numbers = itertools.count(1)


def click(number=None, **fields):
    """Returns a visit of now; its identity is the next number, or `number` + 1."""
    given = {"event_id": next(_numbers) if number is None else number + 1,
             "event_id_high": 7, "time_ms": int(time.time() * 1000),
             "edge": "edge-1", "domain": "go.example.com", "code": "abc",
             "link_id": 42, "account": "acme", "outcome": 1, "status": 302,
             "client_ip": bytes([8, 8, 8, 8]),
             "user_agent": CHROME.encode(), **fields}
    cookies = given.pop("cookies", {})
    event = Click(**given)
    event.cookies.update(cookies)
    return event.SerializeToString()


def link_event(number, version=1):
    """Returns a link that was created now: its code and its id are the number's."""
    now = int(time.time() * 1000)
    event = LinkEvent(change=1, time_ms=now, space="s7", code=f"code{number}")
    event.link.link_id = number + 1
    event.link.version = version
    event.link.url = f"https://example.org/{number}"
    event.link.created_ms = now
    return event.SerializeToString()
