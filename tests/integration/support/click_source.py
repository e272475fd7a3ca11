"""Sends events as fast as Python can, and lists which of them are poison.

    python click_source.py BROKERS CLICKS LINKS SEED NOTES_FILE

Reads numbers of further clicks from its input, and adds a hundredth as many new links
and half as many changes of links; one message of a thousand is poison.  When they are
sent, it answers each line with the total numbers of clicks, links and changes; at the
end of its input it waits until the broker has all.  Each topic holds every message
once, since the producer is idempotent.  NOTES_FILE gets "topic partition offset
poison|change" of each such message.

A click's event_id is its number, from 1 on; a link's link_id, too.  The changes
are those of HOT links in turn.
"""
import random
import struct
import sys
import time

CLICKS_PER_LINK = 100
POISON = 1000  # one message in this many
HOT = 20       # links that change again and again
DAYS = 3       # clicks are spread over these days
AGENTS = [
    b"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, "
    b"like Gecko) Chrome/%d.0.0.0 Safari/537.36",
    b"Mozilla/5.0 (iPhone; CPU iPhone OS 18_%d like Mac OS X) AppleWebKit/"
    b"605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
    b"Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/140.0",
    b"Mozilla/5.0 (compatible; Googlebot/2.%d; "
    b"+http://www.google.com/bot.html)",
]


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def field(number, value):
    """Returns a length-delimited field."""
    return varint(number << 3 | 2) + varint(len(value)) + value


def click_ends(chance, count=2000):
    """Returns the part of a Click after id and time (schemas/click.proto)."""
    ends = []
    for _ in range(count):
        link = int(chance.paretovariate(1.2)) % 5000
        ends.append(
            field(4, b"edge-%d" % chance.randrange(4)) +
            field(5, b"go.example.com") + field(6, b"c%06d" % link) +
            b"\x38" + varint(link + 1) + field(8, b"acme") +
            field(10, b"spring") + b"\x58\x01" + b"\x60\xae\x02" +
            field(13, chance.randbytes(chance.choice((4, 4, 16)))) +
            field(14, chance.choice(AGENTS) % chance.randrange(100)) +
            field(15, b"https://www.example.org/%d" % chance.randrange(99)))
    return ends


def times(chance, count=5000):
    now = int(time.time() * 1000)
    return [b"\x18" + varint(now - chance.randrange(DAYS * 86400_000))
            for _ in range(count)]


def poison_click(chance, good):
    return chance.choice([
        b"",
        b"\xff" * 12 + chance.randbytes(chance.randrange(200)),
        good[:-1],                                   # cut in its last field
        good + field(13, b"12345"),                  # an address of 5 bytes
        good[:18] + good[25:],                       # without its time
    ])


def link_event(number, version=1, code=None):
    link = b"\x09" + struct.pack("<Q", number) + b"\x18" + varint(
        version) + field(7, b"https://example.org/%d" % number)
    return (b"\x08\x01\x10" + varint(int(time.time() * 1000)) +
            field(3, b"s7") + field(4, code or b"l%07d" % number) +
            field(5, link))


def hot_code(number):
    return f"h{number:02}"


def newest_version(number, changes):
    """Returns the version of a hot link after that many changes of all hot links."""
    return (changes - number - 1) // HOT + 1


class Source:
    def __init__(self, brokers, clicks, links, seed, notes):
        from confluent_kafka import Producer
        self.chance = random.Random(seed)
        self.ends, self.times = click_ends(self.chance), times(self.chance)
        self.topics = {"clicks": clicks, "links": links}
        self.notes = notes
        # Numbers that were used; poison has none.
        self.sent = {"clicks": 0, "links": 0, "changes": 0}
        self.failed = 0
        self.producer = Producer({
            "bootstrap.servers": brokers, "enable.idempotence": True,
            "compression.type": "lz4", "linger.ms": 5, "log_level": 2,
            "delivery.timeout.ms": 600_000,
            "queue.buffering.max.messages": 1_000_000})

    def click(self):
        self.sent["clicks"] += 1
        return b"".join((b"\x09", struct.pack("<Q", self.sent["clicks"]),
                         b"\x11\x07\0\0\0\0\0\0\0", self.chance.choice(
                             self.times), self.chance.choice(self.ends)))

    def send(self, topic, value, noted="", key=None):
        told = (self.on_failure if not noted else
                lambda error, message: self.note(error, message, noted))
        while True:
            try:
                self.producer.produce(self.topics[topic], value, key,
                                      on_delivery=told)
                return
            except BufferError:
                self.producer.poll(0.1)

    def on_failure(self, error, _):
        self.failed += error is not None

    def note(self, error, message, what):
        self.failed += error is not None
        print(message.topic(), message.partition(), message.offset(), what,
              file=self.notes, flush=True)

    def link(self):
        self.sent["links"] += 1
        event = link_event(self.sent["links"])
        self.send("links", event, key=b"l%07d" % self.sent["links"])
        if self.sent["links"] % 2 == 0:
            number = self.sent["changes"] % HOT
            self.sent["changes"] += 1
            code = hot_code(number).encode()
            self.send("links", link_event(
                10**9 + number, newest_version(number, self.sent["changes"]),
                code), "change", code)

    def more(self, count):
        for i in range(count):
            if self.chance.random() * POISON < 1:
                poison = poison_click(self.chance, self.click())
                self.sent["clicks"] -= 1
                self.send("clicks", poison, "poison")
            else:
                self.send("clicks", self.click())
            if i % CLICKS_PER_LINK == 0:
                self.link()
                self.producer.poll(0)

    def run(self, lines):
        for line in lines:
            self.more(int(line))
            self.answer()
        left = self.producer.flush(600)
        if left or self.failed:
            sys.exit(f"{left} messages left, {self.failed} failed")

    def answer(self):
        print(*self.sent.values(), flush=True)


if __name__ == "__main__":
    with open(sys.argv[5], "w") as file:
        Source(*sys.argv[1:4], int(sys.argv[4]), file).run(sys.stdin)
