-- The trace that a visit was part of, in hexadecimal: trace-id of the header traceparent,
-- where redirector.record_traceparent wants it, else ''.  Personal data, which `aggregator
-- forget` empties.  The collector writes this column, so it is started after this was applied.
ALTER TABLE clicks
    ADD COLUMN IF NOT EXISTS trace_id String CODEC(ZSTD) AFTER cookies;
