-- What verdicts are decided by is kept, so that newer rules can be applied to
-- past days by `collector rescore`.  The collector writes this column, so it is
-- started after this was applied; of rows from before, verdict_reason tells
-- whether there was such a header.
ALTER TABLE clicks
    -- value of Sec-Purpose or Purpose; at most 64 bytes
    ADD COLUMN IF NOT EXISTS purpose LowCardinality(String) AFTER maybe_sent;
