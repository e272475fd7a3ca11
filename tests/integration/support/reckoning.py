"""Checks that every event in Kafka is stored, and once, by topic, partition and
offset."""
import collections

NAMED = 5  # at most this many errors are named


def stored(clickhouse, table, topic, partition, where="1"):
    """Returns the offsets in order, each as often as it is stored."""
    text = clickhouse.query(
        f"SELECT offset FROM {table} WHERE topic = '{topic}' AND "
        f"partition = {partition} AND {where} ORDER BY offset FORMAT TSV")
    return list(map(int, text.split()))


class Reckoning:
    """`poison` and `changes` (of links): {(topic, partition, offset)}."""

    def __init__(self, clickhouse, kafka, poison, changes, inserts_of):
        self.clickhouse = clickhouse
        self.kafka = kafka
        self.poison = poison
        self.changes = changes
        self.inserts_of = inserts_of
        self.wrong = []
        self.events = 0

    def check(self, table, topic, where="1"):
        """Every event must be stored once; of changes only the newest must be."""
        left_out = self.poison | self.changes
        for partition, end in self.kafka.ends(topic).items():
            expected = {o for o in range(end)
                        if (topic, partition, o) not in left_out}
            found = stored(self.clickhouse, table, topic, partition, where)
            once = set(found)
            self.events += end
            self.complain("missing", topic, partition, expected - once)
            self.complain("never sent", topic, partition, once - expected)
            if len(found) > len(once):
                self.complain("stored twice", topic, partition, {
                    o for o, n in collections.Counter(found).items() if n > 1})

    def check_reports(self, topic):
        """Reported blocks must be contiguous, from the log's start to its end, and have
        the counts of the stored rows."""
        for partition, end in self.kafka.ends(topic).items():
            rows = self.clickhouse.rows(
                f"SELECT first, last, rows, dead_lettered FROM ingest_progress"
                f" WHERE topic = '{topic}' AND partition = {partition} AND "
                f"rows + dead_lettered > 0 ORDER BY first, last")
            at = 0
            for row in rows:
                first, last, count, dead = map(int, row.values())
                if first != at or count + dead != last + 1 - first:
                    self.complain(f"{at} comes next, reported was {row}",
                                  topic, partition, {first})
                at = last + 1
            if at != end:
                self.complain(f"reported until {at} of {end}", topic,
                              partition, {at})

    def check_dead_letters(self, dlq):
        """The topic must have all poison, and nothing else."""
        found = set()
        for message in self.kafka.consume(dlq, seconds=60):
            headers = dict(message.headers())
            found.add((headers["topic"].decode(), int(headers["partition"]),
                       int(headers["offset"])))
        for what, where in (("poison not in the dead letters",
                             self.poison - found),
                            ("no poison but in the dead letters",
                             found - self.poison)):
            for topic, partition, offset in sorted(where)[:NAMED]:
                self.complain(what, topic, partition, {offset})

    def complain(self, what, topic, partition, offsets):
        if not offsets:
            return
        self.wrong.append(f"{topic} {partition}: {what}: {len(offsets)} "
                          f"offsets: {ranges(offsets)}")
        for offset in sorted(offsets)[:2]:
            self.wrong += [f"    {line}" for line in
                           self.inserts_of(topic, partition, offset)[-12:]]

    def verdict(self):
        assert not self.wrong, "\n".join(["", *self.wrong[:100]])


def ranges(offsets):
    """1-3, 7 ..."""
    found = []
    for o in sorted(offsets):
        if found and found[-1][1] == o - 1:
            found[-1][1] = o
        else:
            found.append([o, o])
    told = [f"{a}-{b}" if b > a else str(a) for a, b in found[:NAMED]]
    return ", ".join(told) + (" ..." if len(found) > NAMED else "")
