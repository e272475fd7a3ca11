-- What `aggregator forget` was told to forget: visitors and links.  Collectors and
-- imports read it, so that an event that is read again, or late, becomes a row without
-- what is forgotten.  Rows are only added; of a visitor the latest `visits_until`
-- counts.
CREATE TABLE IF NOT EXISTS forgotten
(
    link_id      UInt64,               -- 0: it is a visitor
    visitor_id   FixedString(20),      -- as clicks.unique_identity; zeros: it is a link
    visits_until DateTime64(3, 'UTC'), -- a visitor's visits up to then, by any clock
    listed_by    LowCardinality(String)
)
ENGINE = MergeTree
ORDER BY (link_id, visitor_id);
