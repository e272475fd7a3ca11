SELECT count()
FROM (
    -- include: aggregator/sql/parts/days_dropped_since.sql
)
WHERE toUInt32(unit) IN (SELECT intDiv(arrayJoin({hours:Array(UInt32)}), 86400) * 86400)
FORMAT TabSeparated
