-- Counters of redirectors, by the hour of their events: the rows and the settled counts of
-- an hour are compared with them.  One row per hour and start of a redirector: each is a
-- running total, and the one of the highest sequence is right.  A record that comes twice
-- makes the same row again.
CREATE TABLE IF NOT EXISTS redirector_counters
(
    hour         DateTime('UTC') CODEC(Delta, ZSTD), -- of the events' own time
    boot         UInt64,                   -- one start of one redirector
    sequence     UInt64,
    instance     LowCardinality(String),   -- the place of the redirector
    edge         LowCardinality(String),   -- its name in events
    boot_time    DateTime64(3, 'UTC'),
    counted_until DateTime64(3, 'UTC'),    -- all earlier answers are counted
    ended        Bool,                     -- no record follows
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
    undelivered  UInt64, -- taken, and then dropped
    spooled      UInt64,
    replayed     UInt64,
    withheld     UInt64  -- answers whose event was not sent: there were more
                         -- than redirector.event_rate_... allows
)
ENGINE = ReplacingMergeTree(sequence)
ORDER BY (hour, boot);
