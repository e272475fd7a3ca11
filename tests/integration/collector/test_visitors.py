"""The stored data of visitors: identity, address, channel and campaign."""
import hashlib
import time

import pytest
from support.collecting import *  # noqa: F403, fixtures too
from support.collecting import rows, wait_for
from support.events import CHROME, click
from support.rule_files import GEO, UA_RULES, country_of

SECRET = "correct horse battery staple"
V4 = bytes([8, 8, 8, 8])
V6 = bytes.fromhex("20014860486012340000000000008888")
SIX_TO_FOUR = bytes.fromhex("2002080808080001" + "00" * 8)
COLUMNS = ("toString(ip) AS address, hex(unique_identity) AS visitor, "
           "country, toString(toDate(ts)) AS utc_day")


def stored(tables, number):
    wait_for(tables, number)
    return rows(tables, COLUMNS)


def secret_file(workdir):
    path = workdir / "visitor.secret"
    path.write_text(SECRET + "\n")
    return f"file:{path}"


def visits(kafka, topics, *addresses):
    kafka.produce(topics["topic_clicks"], [
        click(link_id=i, client_ip=ip) for i, ip in enumerate(addresses)])


@pytest.mark.proof
def test_a_truncated_address_still_has_its_place(kafka, topics, tables,
                                                 collector):
    visits(kafka, topics, V4, V6, SIX_TO_FOUR)
    collector(store_ip="truncated", geo_files=GEO)
    four, six, within = stored(tables, 3)
    assert [r["address"] for r in (four, six, within)] == [
        "::ffff:8.8.8.0", "2001:4860:4860::", "2002:808:800::"]
    assert four["visitor"] == hashlib.sha1(
        V4 + CHROME.encode()).hexdigest().upper()
    assert (four["country"], within["country"]) == (country_of("8.8.8.8"),) * 2


@pytest.mark.proof
def test_no_address_is_stored_at_all(kafka, topics, tables, collector):
    visits(kafka, topics, V4, V6)
    collector(store_ip="none", geo_files=GEO)
    four, six = stored(tables, 2)
    assert {four["address"], six["address"]} == {"::"}
    assert four["country"] == country_of("8.8.8.8") and len(six["country"]) == 2
    assert four["visitor"] != six["visitor"]


@pytest.mark.proof
def test_the_stored_address_can_be_all_that_is_known(kafka, topics, tables,
                                                     collector):
    visits(kafka, topics, V4, bytes([8, 8, 8, 9]), bytes([8, 8, 9, 9]))
    collector(store_ip="truncated", stored_ip_only=True, geo_files=GEO)
    one, neighbour, other = stored(tables, 3)
    assert one["visitor"] == neighbour["visitor"] != other["visitor"]
    assert one["visitor"] == hashlib.sha1(
        bytes([8, 8, 8, 0]) + CHROME.encode()).hexdigest().upper()
    assert one["country"] == "US"


def test_nothing_is_known_of_an_address_that_is_not_stored(
        kafka, topics, tables, collector):
    visits(kafka, topics, V4, bytes([9, 9, 9, 9]))
    collector(store_ip="none", stored_ip_only=True)
    one, other = stored(tables, 2)
    assert one["visitor"] == other["visitor"] == hashlib.sha1(
        CHROME.encode()).hexdigest().upper()
    assert one["country"] == other["country"] == ""


def identity_of_day(secret, day, ip, user_agent):
    """Returns the identity as documented."""
    key = hashlib.blake2b(secret.encode(), digest_size=32).digest()
    daily = hashlib.blake2b(b"shortloop visitor of day "
                            + day.to_bytes(8, "little"),
                            key=key, digest_size=32).digest()
    return hashlib.blake2b(bytes([len(ip)]) + ip + user_agent, key=daily,
                           digest_size=20).hexdigest().upper()


@pytest.mark.proof
def test_a_keyed_identity_lasts_a_day_of_the_row(kafka, topics, tables,
                                                 collector, workdir):
    day = 86400 * 1000
    today = int(time.time() * 1000) // day
    times = [(today - 2) * day, (today - 1) * day - 1, (today - 1) * day]
    kafka.produce(topics["topic_clicks"], [
        click(link_id=i, time_ms=t) for i, t in enumerate(times)])
    running = collector(visitor_identity="daily",
                        visitor_secret=secret_file(workdir))
    wanted = [identity_of_day(SECRET, d, V4, CHROME.encode())
              for d in (today - 2, today - 2, today - 1)]
    assert [r["visitor"] for r in stored(tables, 3)] == wanted
    assert wanted[1] != wanted[2] and SECRET not in running.log()


@pytest.mark.parametrize("own, said", [
    ({"visitor_identity": "daily"}, "visitor_secret"),
    ({"visitor_identity": "weekly"}, "visitor_identity"),
    ({"visitor_identity": "daily", "visitor_secret": "env:SHORT"},
     "at least 16 bytes"),
    ({"visitor_secret": SECRET}, "visitor_secret"),
    ({"store_ip": "half"}, "store_ip"),
])
def test_a_wrong_setting_is_refused(program, own, said, monkeypatch):
    monkeypatch.setenv("SHORT", "short")
    made = program("collector", {"collector": {
        "ua_rules": UA_RULES, **own}}, start=False)
    status, output = made.run()
    assert status == 78 and said in output
    assert SECRET not in output and len(output.strip().splitlines()) == 1
