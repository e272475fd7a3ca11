-- @links@: SELECT link_id AS one_id FROM links
-- Joins what happened to the links after their last change: the end that visits gave this
-- version, and the return of their block.
LEFT JOIN (
    SELECT link_id AS renewed_id, version AS renewed_version,
        toUnixTimestamp64Milli(max(ends_at)) AS n_renewed
    FROM link_ends
    WHERE link_id IN (@links@)
    GROUP BY renewed_id, renewed_version) AS renewal
  ON newest.link_id = renewal.renewed_id AND newest.version = renewal.renewed_version
LEFT JOIN (
    SELECT first_id AS taken_id, toUnixTimestamp64Milli(max(reclaimed_at)) AS n_reclaimed
    FROM reclaimed_blocks
    WHERE first_id IN (
        SELECT
            -- include: aggregator/sql/parts/block_of_link.sql
        FROM (@links@))
    GROUP BY taken_id) AS taken
  ON
    -- include: aggregator/sql/parts/block_of_link.sql
    = taken.taken_id
