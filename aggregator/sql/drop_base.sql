-- @attempts@: , (SELECT max(attempt) FROM settled WHERE kind = 'base_sealed')
SELECT (
        SELECT argMax(rows, attempt)
        FROM settled
        WHERE kind = 'dropped_day' AND unit = toDateTime({start:UInt32}, 'UTC'))@attempts@
FORMAT TabSeparated
