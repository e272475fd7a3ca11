-- Rows that say that their event may have been sent before are looked for whenever an hour
-- is settled.  There are few, and granules without one are passed over.
ALTER TABLE clicks
    ADD INDEX IF NOT EXISTS by_maybe_sent maybe_sent TYPE minmax GRANULARITY 1;
ALTER TABLE clicks
    MATERIALIZE INDEX by_maybe_sent;
