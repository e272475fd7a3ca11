-- The rows that a list with clicks reads for a caller that does not see all accounts.
-- @of_hours@: AND link_id IN (SELECT link_id FROM links)
SELECT count()
FROM (
    -- include: aggregator/sql/parts/clicks_of_hours_of_caller.sql
)
FORMAT TabSeparated
