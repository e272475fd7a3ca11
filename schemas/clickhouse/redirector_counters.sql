-- What redirectors counted, by the hour of the events they told of: what the rows and
-- the settled counts of an hour are held against.  One row an hour and start of a
-- redirector: each is a running total, and the one of the highest sequence is right.
-- A record that comes twice is the same row again.
CREATE TABLE IF NOT EXISTS redirector_counters
(
    hour         DateTime('UTC') CODEC(Delta, ZSTD), -- of the events' own time
    boot         UInt64,                   -- of one start of one redirector
    sequence     UInt64,
    instance     LowCardinality(String),   -- what was started
    edge         LowCardinality(String),   -- its name in events
    boot_time    DateTime64(3, 'UTC'),
    counted_until DateTime64(3, 'UTC'),    -- all before is counted
    ended        Bool,                     -- and nothing comes after
    inexact      Bool,                     -- some events have no hour

    redirected   UInt64, -- answered, by the outcome of their events
    not_found    UInt64,
    expired      UInt64,
    blocked      UInt64,
    head         UInt64,
    silent       UInt64, -- answered without an event

    produced     UInt64, -- events taken by the producer
    refused      UInt64, -- not taken
    acknowledged UInt64, -- stored by Kafka
    undelivered  UInt64, -- taken, and given up
    spooled      UInt64,
    replayed     UInt64,
    withheld     UInt64  -- answers whose event was not sent: there were more of them
                         -- than redirector.event_rate_... lets through
)
ENGINE = ReplacingMergeTree(sequence)
ORDER BY (hour, boot);
