"""The proxies of the fault tests really cause their faults: otherwise a test with a
fault that never happens would pass and prove nothing."""
import socket

import pytest
import requests
from confluent_kafka import Producer
from support.fault_proxy import FAULTS, ClickHouseProxy, KafkaProxy
from support.kafka import Kafka
from support.program import eventually
from support.server import ProxiedKafkaServer

STORED = {"hang_after", "error_after", "drop_after", "close_after",
          "cut_answer", "twice",
          "delay", "late"}
STATUS = {"error_before": 503, "error_after": 500, "twice": 200, "delay": 200}


@pytest.fixture
def proxy(proxy, clickhouse):
    clickhouse.query("CREATE TABLE clicks (a UInt32) ENGINE = MergeTree "
                     "ORDER BY a SETTINGS "
                     "non_replicated_deduplication_window = 100")
    proxy.delay = 0.2
    return proxy


def insert(proxy, clickhouse, number, timeout=60):
    """Returns the status, or None if there was no answer."""
    try:
        return requests.post(
            proxy.url, params={"database": clickhouse.database,
                               "insert_deduplication_token": f"t{number}",
                               "query": "INSERT INTO clicks FORMAT TSV"},
            data=f"{number}\n".encode() * 100, timeout=timeout).status_code
    except requests.RequestException:
        return None


def stored(clickhouse):
    return clickhouse.value("SELECT count() FROM clicks")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_does_what_it_says(proxy, clickhouse, fault):
    proxy.at(2, fault, "clicks")
    assert insert(proxy, clickhouse, 1) == 200
    wait = 0.3 if fault.startswith("hang") else 60
    assert insert(proxy, clickhouse, 2, wait) == STATUS.get(fault)
    # The sender may have closed before the request was checked.
    eventually(lambda: proxy.faults() == {fault: 1})
    assert insert(proxy, clickhouse, 3) == 200
    rows = 300 if fault in STORED else 200
    eventually(lambda: stored(clickhouse) == rows, what=f"{rows} rows")
    assert proxy.faults() == {fault: 1}
    assert [p.token for p in proxy.passed] == ["t1", "t2", "t3"]


def test_what_is_not_named_passes(proxy, clickhouse):
    proxy.every("error_before", "clicks")
    asked = requests.post(proxy.url, data=b"SELECT 1", timeout=60)
    assert (asked.status_code, asked.text) == (200, "1\n")
    assert requests.get(proxy.url + "/ping", timeout=60).text == "Ok.\n"
    assert insert(proxy, clickhouse, 1) == 503
    assert [p.kind for p in proxy.passed] == ["question", "ping", "clicks"]


def test_chance_is_the_seeds(clickhouse_server):
    def draw(seed):
        with ClickHouseProxy(clickhouse_server.port, seed) as made:
            made.at_random(0.5, ["error_before"])
            return [requests.get(made.url + "/ping", timeout=60).status_code
                    for _ in range(32)]
    assert draw(1) == draw(1) != draw(2)
    assert set(draw(1)) == {200, 503}


def test_one_that_is_held_passes_after_its_sender_has_gone(proxy, clickhouse):
    held = proxy.hold("clicks")
    assert insert(proxy, clickhouse, 1, timeout=0.3) is None
    # The sender may have closed before the request was checked.
    eventually(held.here.is_set, what="it to be held")
    assert stored(clickhouse) == 0
    held.release()
    eventually(lambda: stored(clickhouse) == 100, what="the late rows")


@pytest.mark.parametrize("carried_out", [False, True])
def test_a_call_comes_before_or_after_it_is_carried_out(proxy, clickhouse,
                                                        carried_out):
    seen = []
    proxy.call_at(2, lambda: seen.append(stored(clickhouse)), "clicks",
                  carried_out)
    assert [insert(proxy, clickhouse, n) for n in (1, 2, 3)] == [200] * 3
    assert seen == [200 if carried_out else 100]


def test_nobody_listens_until_somebody_does(proxy, clickhouse):
    proxy.refuse()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", proxy.port), 2)
    proxy.accept()
    assert insert(proxy, clickhouse, 1) == 200


def test_a_clickhouse_that_is_away_is_a_502(free_port):
    with ClickHouseProxy(free_port()) as made:
        assert requests.get(made.url, timeout=60).status_code == 502


# --- Kafka -------------------------------------------------------------------

@pytest.fixture(scope="module")
def broker(rundir):
    with KafkaProxy() as proxy:
        server = ProxiedKafkaServer(rundir / "kafka-behind", proxy)
        yield server.start()
        server.kill()


@pytest.mark.proof
def test_all_clients_come_through_the_proxy(broker):
    direct = Kafka(broker.port)
    topic = direct.create_topic()
    direct.produce(topic, [b"1"])
    behind = Kafka(broker.proxy.port)
    assert [m.value() for m in behind.consume(topic, 1)] == [b"1"]
    addresses = {(b.host, b.port) for b in
                 behind.admin.list_topics(timeout=60).brokers.values()}
    assert addresses == {("127.0.0.1", broker.proxy.port)}


@pytest.mark.proof
def test_a_client_outlives_cuts_refusals_and_stalls(broker):
    topic = Kafka(broker.port).create_topic()
    producer = Producer({"bootstrap.servers": broker.proxy.address,
                         "enable.idempotence": True})
    troubles = [broker.proxy.cut, broker.proxy.refuse, broker.proxy.accept,
                broker.proxy.stall, broker.proxy.flow]
    for number, trouble in enumerate([*troubles, *troubles]):
        producer.produce(topic, b"%d" % number)
        producer.poll(0.05)
        trouble()
    assert producer.flush(60) == 0
    found = Kafka(broker.port).consume(topic, 10)
    assert [m.value() for m in found] == [b"%d" % n for n in range(10)]


@pytest.mark.proof
def test_nothing_passes_a_stall(broker):
    topic = Kafka(broker.port).create_topic()
    producer = Producer({"bootstrap.servers": broker.proxy.address})
    producer.produce(topic, b"before")
    assert producer.flush(60) == 0
    broker.proxy.stall()
    producer.produce(topic, b"after")
    assert producer.flush(0.5) == 1
    broker.proxy.flow()
    assert producer.flush(60) == 0
