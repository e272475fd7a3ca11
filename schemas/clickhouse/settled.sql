-- The settled hours and days, and the rows they were settled from.  Rows are only ever
-- appended; superseded ones are deleted some time later.  The newest of a kind and unit
-- counts.
--   hour         stats_hourly of that UTC hour is published under `attempt`
--   link_day     the same for link_slots and link_days of that UTC day
--   held_hour, held_day
--                rows that had been settled before, or that collectors had reported, are
--                gone: the earlier published counts stay, until something else changes the
--                hour or `aggregator settle --allow-fewer`
--   pass         how far ingest_progress had been read; a restart continues from there
--   sealed_day   the day is copied to sealed_slots; 'sealing' is written before that
--   owner_day    the same for owner_slots and owner_values; 'copying' before that
--   value_day    the same for day_values and owner_values; 'valuing' before that
--   spanned_day  the same for stats_spans; 'spanning' before that
--   sampled_day  the same for sampled_clicks; 'sampling' before that
--   link_value_day  the same for link_values; 'link_valuing' before that
--   dropped_day  the rows of the UTC day are in its base, `rows` of them; they are
--                deleted from `clicks` when no query reads them any more
--   base_hour, base_sealed, base_owner, base_value, base_sample,
--   base_link_value
--                the attempt that is the base of the hour or day; all rows of a drop are
--                one insert
--   kept_from    nothing is settled before `unit`, the first day of a month; earlier counts
--                are deleted, being older than `settled_days`; the greatest counts
-- `blocks` and `rows` are the number of rows of ingest_progress that touched the hour or day,
-- and the clicks they reported, a block reported twice being counted once: while both are
-- unchanged, no click has arrived.
-- `provisional`: an hour that is not over is settled from the rows that have arrived: from its
-- last attempt and the rows beyond it.  A value that joined the busiest ones only then lacks
-- the clicks that were counted with the rest before; the hour is settled from all of its rows
-- when it is over.
-- `mended`: a watermark that was published too far is lowered by a row with a new number
-- (`aggregator watermark --mend`): a mark counts if its publisher knew the greatest of these
-- numbers.
CREATE TABLE IF NOT EXISTS settled
(
    kind           Enum8('hour' = 1, 'pass' = 2, 'link_day' = 3, 'held_hour' = 4,
                         'held_day' = 5, 'sealed_day' = 6, 'sealing' = 7,
                         'dropped_day' = 8, 'base_hour' = 9, 'base_sealed' = 10,
                         'kept_from' = 11, 'owner_day' = 12, 'base_owner' = 13,
                         'copying' = 14, 'value_day' = 15, 'valuing' = 16,
                         'base_value' = 17, 'spanned_day' = 18, 'spanning' = 19,
                         'sampled_day' = 20, 'sampling' = 21, 'base_sample' = 22,
                         'link_value_day' = 23, 'link_valuing' = 24,
                         'base_link_value' = 25),
    unit           DateTime('UTC'),         -- start of the hour or day
    attempt        UInt64,
    blocks         UInt64,
    rows           UInt64,
    provisional    Bool,
    read_until     DateTime64(3, 'UTC'),    -- greatest inserted_at seen
    complete_until DateTime64(3, 'UTC'),    -- the watermark; 1970: not known
    mended         UInt64,
    settled_at     DateTime64(3, 'UTC'),
    settler        LowCardinality(String)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(unit)
ORDER BY (kind, unit, attempt);
