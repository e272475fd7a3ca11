-- @spans@: include aggregator/sql/parts/spans_of_days.sql
SELECT sum(e)
FROM (
    @spans@)
FORMAT TabSeparated
