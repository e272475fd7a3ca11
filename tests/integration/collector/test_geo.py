"""Geo files: what explain reads from them, and files that are replaced."""
import ipaddress
import json
import random
import signal
import subprocess

import maxminddb
import pytest
import servers
import yaml
from support.collecting import *  # noqa: F403, fixtures too
from support.collecting import rows, wait_for
from support.events import click
from support.mmdb import Mmdb
from support.program import eventually
from support.rule_files import UA_RULES

NAMES = {"de": "Genf", "en": "Geneva", "fr": "Genève"}
CITY = {"city": {"names": NAMES}, "continent": {"code": "EU"},
        "country": {"iso_code": "CH"}, "postal": {"code": "1200"},
        "location": {"latitude": 46.2, "longitude": 6.15,
                     "accuracy_radius": 20, "time_zone": "Europe/Zurich"},
        "subdivisions": [{"iso_code": "GE", "names": NAMES}]}


def explain(workdir, files, addresses, **settings):
    config = workdir / "explain.yaml"
    config.write_text(yaml.safe_dump({"collector": {
        "ua_rules": UA_RULES,
        "geo_files": [str(f) for f in files], **settings}}))
    done = subprocess.run(
        [servers.ROOT / "build/bin/collector", "explain", "-c", config],
        input="".join(json.dumps({"ip": str(a)}) + "\n" for a in addresses),
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["geo"] for line in done.stdout.splitlines()]


# --- reading -------------------------------------------------------------------

def made_up_files(workdir, chance):
    """Makes a nested file of both families, and two flat ones."""
    nested = Mmdb(6, 28)
    flat = {4: Mmdb(4, 24), 6: Mmdb(6, 32)}
    for bits in sorted(chance.choices(range(6, 33), k=150)):
        number = chance.getrandbits(32) & -1 << 32 - bits & 0x3fffffff
        v4 = ipaddress.ip_network((number, bits))
        v6 = ipaddress.ip_network(
            (0x2a << 120 | chance.getrandbits(4) << 112 | number << 72
             & -1 << 128 - bits - 24, bits + 24), strict=False)
        for net in v4, v6:
            name = str(net)
            nested.add(name, {
                **CITY, "postal": {"code": name},
                "location": {**CITY["location"], "latitude": bits + 0.5}})
            flat[net.version].add(name, {
                "country_code": chance.choice(["DE", "JP", "BR"]),
                "city": "City of " + name, "state1": "", "timezone": "",
                "latitude": 10.25, "longitude": -1.0 * bits})
    return (nested.save(workdir / "nested.mmdb"),
            flat[4].save(workdir / "v4.mmdb"),
            flat[6].save(workdir / "v6.mmdb"))


def boundaries(path, chance):
    """Returns the first and last address of every network of a file, and one within."""
    with maxminddb.open_database(path) as db:
        for network, _ in db:
            first, last = int(network[0]), int(network[-1])
            for number in first, last, chance.randint(first, last):
                yield type(network[0])(number)


def test_every_network_of_a_file_is_read_as_it_is(workdir):
    chance = random.Random(6)
    nested, v4, v6 = made_up_files(workdir, chance)
    asked = [a for a in boundaries(nested, chance) if a.is_global]
    assert len(asked) > 500
    answers = explain(workdir, [nested], asked)
    with maxminddb.open_database(nested) as db:
        for address, geo in zip(asked, answers):
            record = db.get(str(address))
            assert (geo["continent"], geo["country"], geo["region"],
                    geo["city"]) == ("EU", "CH", "Geneva", "Geneva")
            assert geo["postal_code"] == record["postal"]["code"], address
            assert geo["latitude"] == record["location"]["latitude"]
            assert geo["time_zone"] == "Europe/Zurich"
    answers = explain(workdir, [v4, v6], asked)
    continents = {"DE": "EU", "JP": "AS", "BR": "SA"}
    with maxminddb.open_database(v4) as four, \
            maxminddb.open_database(v6) as six:
        for address, geo in zip(asked, answers):
            record = (four if address.version == 4 else six).get(str(address))
            assert geo["city"] == record["city"], address
            assert geo["country"] == record["country_code"]
            assert geo["continent"] == continents[geo["country"]]
            assert geo["longitude"] == record["longitude"]
            assert geo["time_zone"] is None and geo["region"] is None


def test_addresses_within_others_and_names_of_a_language(workdir):
    path = Mmdb().add("1.2.0.0/16", CITY).save(workdir / "city.mmdb")
    asked = ["1.2.3.4", "::ffff:1.2.3.4", "2002:0102:0304::1",
             "64:ff9b::1.2.3.4", "1.3.0.0", "10.0.0.1", "fd00::1"]
    geo = explain(workdir, [path], asked, geo_language="fr")
    assert [g["city"] for g in geo] == ["Genève"] * 4 + [None] * 3
    assert [g["country"] for g in geo] == ["CH"] * 4 + [
        None, "private", "private"]
    assert explain(workdir, [path], ["1.2.3.4"],
                   geo_language="zh-CN")[0]["region"] == "Geneva"


@pytest.mark.parametrize("harm, said", [
    (lambda good: good[:len(good) // 2], "cut short"),
    (lambda good: good[:-1], "metadata"),
    (lambda good: b"\x1f\x8b" + good[:100], "no MaxMind DB"),
    (lambda good: b"", "an empty file"),
    (lambda good: good.replace(b"\x46Geneva", b"\xffGeneva"),
     "of its data: "),
    (lambda good: b"\xff" * 6 + good[6:], "node 0 of its tree"),
])
def test_a_broken_file_is_refused_by_name(program, workdir, harm, said):
    path = workdir / "harmed.mmdb"
    good = Mmdb().add("1.2.0.0/16", CITY).content()
    path.write_bytes(harm(good))
    made = program("collector", {"collector": {
        "ua_rules": UA_RULES,
        "geo_files": [str(path)]}}, start=False)
    status, output = made.run()
    assert status == 78
    assert len(output.strip().splitlines()) == 1
    assert str(path) in output and said in output


# --- replacing -----------------------------------------------------------------

def country_file(path, country):
    return Mmdb().add("8.8.0.0/16",
                      {"country": {"iso_code": country}}).save(path)


@pytest.mark.long
def test_files_are_replaced_without_a_word(kafka, topics, tables, collector,
                                           workdir):
    path = country_file(workdir / "geo.mmdb", "DE")
    running = collector(geo_files=[str(path)])

    def failures():
        return running.metric("shortloop_collector_reload_failures_total")

    def expect(country, link_id):
        kafka.produce(topics["topic_clicks"], [click(link_id=link_id)])
        wait_for(tables, link_id)
        assert rows(tables, "country")[-1]["country"] == country

    def reloads():
        return running.metric("shortloop_collector_reloads_total")

    expect("DE", 1)
    eventually(lambda: running.metric("shortloop_collector_geo_bytes")
               >= path.stat().st_size)
    # The file is renamed over the old one: this is noticed.
    country_file(path, "FR")
    eventually(lambda: reloads() == 1)
    expect("FR", 2)
    # A broken file is refused, with its name, and the old one stays in use.
    broken = workdir / "broken.mmdb"
    broken.write_bytes(path.read_bytes()[:-20])
    broken.rename(path)
    eventually(lambda: failures() == 1)
    running.wait_log(f"geo file: {path}: broken")
    expect("FR", 3)
    # The file is overwritten in place with garbage.
    path.write_bytes(b"rubbish" * 1000)
    eventually(lambda: failures() == 2)
    expect("FR", 4)
    # The file is removed; SIGHUP has the same result.
    path.unlink()
    running.process.signal(signal.SIGHUP)
    eventually(lambda: failures() == 3)
    running.wait_log(f"geo file: {path}: cannot be read: No such file")
    expect("FR", 5)
    # The file is back, and valid.
    country_file(path, "IT")
    eventually(lambda: reloads() == 2)
    expect("IT", 6)
