-- @source@: (SELECT count() FROM clicks WHERE link_id != 0)
SELECT
    -- include: aggregator/sql/expressions/newest_published.sql
    > {attempt:UInt64}, @source@
FORMAT TabSeparated
