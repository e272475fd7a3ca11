-- When a row of ingest_progress was stored is told by ClickHouse's own clock:
-- collectors are many, and the clock of one that is a day ahead would hide what
-- the others tell.  They do not send the column any more; one of a former
-- version still may, so what lies beyond this server's clock is never believed.
ALTER TABLE ingest_progress
    MODIFY COLUMN inserted_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC');
-- A watermark that was published too far is lowered by a row with a new number
-- (`aggregator watermark --mend`): a mark counts when it was published by
-- somebody who knew the greatest of these numbers.
ALTER TABLE settled
    ADD COLUMN IF NOT EXISTS mended UInt64 AFTER complete_until;
