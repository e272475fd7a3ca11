-- The visitors and links that `aggregator forget` has forgotten.  Collectors and imports
-- read it, so that an event that is read again, or late, becomes a row without the
-- forgotten data.  Rows are only added; for a visitor the latest `visits_until` counts.
CREATE TABLE IF NOT EXISTS forgotten
(
    link_id      UInt64,               -- 0: the row is of a visitor
    visitor_id   FixedString(20),      -- as clicks.unique_identity; zeros: the row is of a link
    visits_until DateTime64(3, 'UTC'), -- a visitor's visits up to then, by any clock
    listed_by    LowCardinality(String)
)
ENGINE = MergeTree
ORDER BY (link_id, visitor_id);
