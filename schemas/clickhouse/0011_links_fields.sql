-- What a link says beyond its URL.  The collector writes these columns, so it is
-- started after this was applied; rows from before have the defaults.
ALTER TABLE links
    ADD COLUMN IF NOT EXISTS description String CODEC(ZSTD(3)) AFTER domain,
    ADD COLUMN IF NOT EXISTS creator LowCardinality(String) AFTER description,
    ADD COLUMN IF NOT EXISTS editor LowCardinality(String) AFTER creator,
    -- device: URL; other devices get `url`
    ADD COLUMN IF NOT EXISTS targets Map(LowCardinality(String), String) AFTER editor,
    -- 1970 when the link is good at once
    ADD COLUMN IF NOT EXISTS not_before DateTime64(3, 'UTC') AFTER targets,
    -- 0: any number
    ADD COLUMN IF NOT EXISTS max_visits UInt64 AFTER not_before;
