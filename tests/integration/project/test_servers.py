"""The servers that the other tests use."""
import pytest

from support.clickhouse import ClickHouse
from support.program import migrate
from support.protobuf import message


def test_redis_keeps_what_it_is_given(redis):
    redis.set("k", "v")
    assert redis.get("k") == "v"


def test_redis_starts_each_test_empty(redis):
    assert redis.dbsize() == 0


def test_own_redis_keeps_its_data_through_a_kill(own_redis):
    own_redis.client().set("k", "v")
    own_redis.kill()
    own_redis.start()
    assert own_redis.client().get("k") == "v"


def test_kafka_hands_out_what_it_was_given(kafka):
    topic = kafka.create_topic(partitions=3)
    sent = [b"%d" % i for i in range(1000)]
    kafka.produce(topic, sent)
    assert sorted(m.value() for m in kafka.consume(topic)) == sorted(sent)


def test_kafka_stamps_clicks_with_the_time_of_append(kafka):
    topic = kafka.clicks_topic()
    kafka.produce(topic, [b"x"])
    kind, at = kafka.consume(topic)[0].timestamp()
    assert kind == 2 and at > 0


@pytest.mark.parametrize("schema, name", [("click.proto", "Click"),
                                          ("link.proto", "LinkEvent")])
def test_messages_of_the_schemas_can_be_read(schema, name):
    kind = message(schema, f"shortloop.{name}")
    assert kind.FromString(kind().SerializeToString()) == kind()


def described(database):
    return database.rows(
        "SELECT replace(create_table_query, currentDatabase() || '.', '') AS made "
        "FROM system.tables WHERE database = currentDatabase() ORDER BY name"
    ) + database.rows("SELECT * FROM schema_migrations ORDER BY name")


def test_copied_tables_are_those_of_the_migrations(clickhouse, program):
    migrate(program)
    other = ClickHouse.with_new_database(clickhouse.url)
    clickhouse.copy_tables()(other)
    assert described(other) == described(clickhouse)
    other.drop()
