-- The blocks that were taken back: one row per block and generation whose links have ended
-- and whose codes are free, or were given out again.  So their links are "reclaimed".  An
-- aggregator copies what the reclaimer's runs note in Redis; a row that comes twice is the
-- same row.
CREATE TABLE IF NOT EXISTS reclaimed_blocks
(
    first_id     UInt64,                -- the least link_id that a link of the block can have
    reclaimed_at DateTime64(3, 'UTC')   -- Redis' clock
)
ENGINE = ReplacingMergeTree(reclaimed_at)
ORDER BY first_id
SETTINGS index_granularity = 1024;
