"""`collector dlq list` and `replay`: events that could not be stored, and a second
attempt, with real Kafka and a real collector."""
import time

import pytest
from confluent_kafka import Producer
from support.counting import world  # noqa: F401
from support.events import click

BAD = b"\xff\x1b[31mnot a click"
NO_ADDRESS = click(1, client_ip=b"12345")


@pytest.fixture
def buried(world):
    """Two events cannot be decoded and one has an invalid address: dead letters at 0 to
    2, with valid events around them."""
    world.send_raw([click(1), BAD, NO_ADDRESS, BAD])
    world.collect()
    return world


def letters(world, *args):
    status, said = world.ask("dlq", "list", *args)
    assert status == 0
    return said["letters"]


def put_letter(world, payload, **headers):
    producer = Producer({"bootstrap.servers": world.kafka.bootstrap})
    producer.produce(world.topics["topic_dlq"], payload,
                     headers=list(headers.items()))
    assert producer.flush(30) == 0


def mended(world, offset, payload=None):
    """Writes a letter of a collector whose former settings made the event
    unreadable."""
    put_letter(world, click(7) if payload is None else payload,
               topic=world.topics["topic_clicks"], partition="0",
               offset=str(offset), reason="did not know better")


# --- list --------------------------------------------------------------------

def test_letters_are_listed_newest_first(buried):
    found = letters(buried)
    assert [(f["offset"], f["source_offset"]) for f in found] == [
        (2, 3), (1, 2), (0, 1)]
    assert found[0]["source_topic"] == buried.topics["topic_clicks"]
    assert found[0]["size"] == len(BAD)
    assert found[0]["content"] == r"\xff\x1b[31mnot a click"
    assert "protobuf" in found[0]["reason"]
    assert found[0]["sent_again"] is False
    assert abs(time.time() - buried.kafka.consume(
        buried.topics["topic_dlq"])[0].timestamp()[1] / 1000) < 600

    assert [f["offset"] for f in letters(buried, "--limit", "1")] == [2]
    assert [f["offset"] for f in letters(buried, "--reason", "address")] == [1]
    assert [f["offset"] for f in letters(buried, "--offset", "0,2")] == [2, 0]
    assert letters(buried, "--to", "2026-01-01") == []

    status, output = buried.run("dlq", "list")
    assert status == 0 and "\x1b" not in output
    assert "3 letters, 3 shown; 0 were sent again." in output


def test_a_letter_put_twice_is_listed_once(world):
    mended(world, 5)
    mended(world, 5)
    put_letter(world, b"somebody else's")
    status, said = world.ask("dlq", "list")
    assert status == 0 and len(said["letters"]) == 1
    assert (said["total"], said["copies"], said["foreign"]) == (1, 1, 1)


# --- replay ------------------------------------------------------------------

def test_a_letter_that_can_be_stored_now_is_stored_once(world):
    early = int(time.time() * 1000) - 3600_000
    mended(world, 5, click(7, time_ms=early))

    status, said = world.ask("dlq", "replay", "--all")
    assert (status, said["sent"]) == (0, 1)
    world.collect()

    row = world.clickhouse.rows(
        "SELECT toUnixTimestamp64Milli(ts) AS taken, append_time > ts AS later "
        "FROM clicks")
    assert row == [{"taken": early, "later": 1}]
    assert letters(world)[0]["sent_again"] is True

    # It is not sent a second time unless this is requested.
    status, said = world.ask("dlq", "replay", "--all")
    assert (status, said["sent"], said["sent_before"]) == (0, 0, 1)
    status, said = world.ask("dlq", "replay", "--offset", "0")
    assert (status, said["sent"]) == (1, 0)
    assert len(world.messages("clicks")) == 1
    status, said = world.ask("dlq", "replay", "--offset", "0", "--force")
    assert (status, said["sent"]) == (0, 1)
    assert len(world.messages("clicks")) == 2


@pytest.mark.proof
def test_only_the_letters_chosen_are_sent(buried):
    before = len(buried.messages("clicks"))
    status, said = buried.ask("dlq", "replay", "--all", "--dry-run")
    assert (status, said["sent"], said["dry_run"]) == (0, 3, True)
    assert len(buried.messages("clicks")) == before

    status, said = buried.ask("dlq", "replay", "--reason", "address")
    assert (status, said["sent"]) == (0, 1)
    sent = buried.messages("clicks")[before:]
    assert [m.value() for m in sent] == [NO_ADDRESS]
    assert sent[0].headers() == [("replays", b"1")]
    # The verifier sees one event more, and a mark that is no letter.
    buried.collect()
    status, said = buried.ask("verify")
    assert status == 0, said
    assert (said["events"], said["dead_letters"]) == (5, 4)


@pytest.mark.long
def test_an_event_that_comes_back_too_often_stays(world):
    world.send_raw([BAD])
    world.collect()
    world.ask("dlq", "replay", "--all")
    world.collect()
    assert [f["replays"] for f in letters(world)] == [1, 0]

    put_letter(world, BAD, topic=world.topics["topic_clicks"], partition="0",
               offset="99", reason="again", replays="3")
    status, said = world.ask("dlq", "replay", "--reason", "again")
    assert (status, said["sent"], said["too_often"]) == (1, 0, 1)
    status, output = world.run("dlq", "replay", "--reason", "again")
    assert status == 1 and "they had come back 3 times" in output
    status, said = world.ask("dlq", "replay", "--reason", "again", "--force")
    assert (status, said["sent"]) == (0, 1)
    assert dict(world.messages("clicks")[-1].headers())["replays"] == b"4"


def test_an_event_of_a_link_comes_back_with_its_key(world):
    world.send_raw([b"\xffno link"], topic="links", key=b"code1")
    world.collect()
    status, said = world.ask("dlq", "replay", "--all")
    assert (status, said["sent"]) == (0, 1)
    assert [m.key() for m in world.messages("links")] == [b"code1"] * 2


def test_letters_of_other_topics_are_not_sent(world):
    put_letter(world, b"x", topic="payments", partition="0", offset="1",
               reason="a trap")
    status, said = world.ask("dlq", "replay", "--all")
    assert (status, said["sent"], said["elsewhere"]) == (1, 0, 1)


def test_many_letters_are_sent_with_their_marks(world):
    producer = Producer({"bootstrap.servers": world.kafka.bootstrap})
    for i in range(1201):
        producer.produce(world.topics["topic_dlq"], click(i), headers=[
            ("topic", world.topics["topic_clicks"]), ("partition", "7"),
            ("offset", str(i)), ("reason", "who knows")])
    assert producer.flush(30) == 0
    status, said = world.ask("dlq", "replay", "--all")
    assert (status, said["sent"]) == (0, 1201)
    assert len(world.messages("clicks")) == 1201
    status, said = world.ask("dlq", "list")
    assert (said["total"], said["sent_again"]) == (1201, 1201)
    assert len(said["letters"]) == 50


# --- bad input ---------------------------------------------------------------

@pytest.mark.parametrize("args, said", [
    ([], "expected 'dlq list' or 'dlq replay'"),
    (["show"], "expected 'dlq list' or 'dlq replay'"),
    (["list", "replay"], "expected 'dlq list' or 'dlq replay'"),
    (["replay"], "which letters? --offset, --reason or --all"),
    (["replay", "--offset", "x"], "--offset: 'x': expected"),
    (["replay", "--all", "--offset", "1"], "contradict each other"),
    (["replay", "--all", "--limit", "1"], "--limit does not go with"),
    (["list", "--limit", "0"], "--limit: '0' is no number"),
    (["list", "--force"], "do not go with 'list'"),
    (["list", "--from", "2026-11-02", "--to", "2026-11-01"],
     "--from lies behind --to"),
])
def test_bad_arguments_are_refused(program, args, said):
    status, output = program("collector", args=["dlq", *args],
                             start=False).run()
    assert status == 64 and said in output, output


def test_a_letter_that_is_not_there_is_named(world):
    status, output = world.run("dlq", "replay", "--offset", "99")
    assert status == 66 and "there is no such letter" in output


def test_a_topic_that_is_not_there_is_named(kafka, program):
    status, output = program(
        "collector", {"kafka": {"topic_dlq": "nobodys"}},
        args=["dlq", "list"], start=False).run()
    assert status == 66 and "kafka has no topic 'nobodys'" in output, output
