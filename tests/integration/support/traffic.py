"""Sends clicks to a topic at a given rate until it is stopped.  It is a process of its
own, so that a test that polls and waits does not delay it.

    python traffic.py BOOTSTRAP TOPIC RATE [USER_AGENT_BYTES [CODEC]]

RATE 0: as fast as possible.  It ends on SIGTERM when everything sent is acknowledged,
or with exit status 1 if something was not.
"""
import pathlib
import random
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
VARIANTS = 500
STEP = 0.02  # seconds between two checks of the clock


class Traffic:
    """The process, for a test: with Traffic(kafka, topic, 20000): ..."""

    def __init__(self, kafka, topic, rate, agent_bytes=0, codec="lz4"):
        self.command = [sys.executable, "-B", __file__, kafka.bootstrap, topic,
                        str(rate), str(agent_bytes), codec]

    def __enter__(self):
        self.process = subprocess.Popen(self.command)
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        status = self.process.wait(120)
        assert status == 0, f"traffic ended with {status}"


def clicks(agent_bytes):
    """Returns serialized events with user agents and addresses by Zipf's law."""
    sys.path.insert(0, str(HERE.parent.parent.parent / "stack"))
    sys.path.insert(0, str(HERE.parent))
    from support.protobuf import message
    click = message("click.proto", "shortloop.Click")
    rng = random.Random(7)
    agents = [f"Mozilla/5.0 (X11; Linux x86_64; rv:{n}.0) Gecko/20100101 "
              f"Firefox/{n}.0".encode() for n in range(60, 140)]
    for i in range(VARIANTS):
        agent = agents[min(int(rng.paretovariate(0.8)), len(agents)) - 1]
        yield click(
            event_id=i + 1, event_id_high=7, time_ms=int(time.time() * 1000),
            edge="edge-1", domain="go.example.com", code=f"c{i}",
            link_id=rng.randrange(1, 1 << 40), outcome=1, status=302,
            client_ip=rng.randbytes(4),
            user_agent=(agent * (agent_bytes // len(agent) + 1))[:agent_bytes]
            if agent_bytes else agent).SerializeToString()


def main(bootstrap, topic, rate, agent_bytes="0", codec="lz4"):
    from confluent_kafka import KafkaException, Producer
    producer = Producer({
        "bootstrap.servers": bootstrap, "linger.ms": 20,
        "compression.codec": codec, "enable.idempotence": True,
        "queue.buffering.max.messages": 200000,
        "queue.buffering.max.kbytes": 65536})
    failed = []
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    values = list(clicks(int(agent_bytes)))
    rate, sent, start = int(rate), 0, time.monotonic()

    def on_delivery(error, _):
        if error:
            failed.append(error)

    while not stopping:
        due = (int((time.monotonic() - start) * rate) if rate
               else sent + 1000)
        while sent < due and not stopping:
            try:
                producer.produce(topic, values[sent % VARIANTS],
                                 on_delivery=on_delivery)
                sent += 1
            except BufferError:
                producer.poll(0.01)
            except KafkaException as e:
                failed.append(e)
                break
        producer.poll(0 if rate == 0 else STEP)
    left = producer.flush(90)
    if left or failed:
        print(f"traffic: {left} left, {failed[:1]}", file=sys.stderr)
    return 1 if left or failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
