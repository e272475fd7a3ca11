SELECT count()
FROM (
    SELECT unit
    FROM settled
    WHERE kind = 'dropped_day'
    GROUP BY unit
    HAVING max(attempt) != {dropped:UInt64})
WHERE toUInt32(unit) IN (SELECT intDiv(arrayJoin({hours:Array(UInt32)}), 86400) * 86400)
FORMAT TabSeparated
