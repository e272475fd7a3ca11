-- @where@: 1
-- @of_links@: AND link_id IN (SELECT link_id FROM links WHERE version > 0)
-- The newest versions are told apart as in values_of_links.sql.
SELECT count()
FROM (
    SELECT link_id
    FROM links
    WHERE @where@
      AND state != 'forgotten'
      AND
      -- include: aggregator/sql/parts/is_newest_version.sql
    LIMIT {candidates:UInt64})
SETTINGS optimize_use_projections = 0
FORMAT TabSeparated
