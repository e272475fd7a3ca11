SELECT count()
FROM (
    SELECT DISTINCT unit, attempt
    FROM settled
    WHERE kind = 'hour'
      AND unit >= toDateTime({start:UInt32}, 'UTC')
      AND unit < toDateTime({end:UInt32}, 'UTC')
      AND toUInt32(unit) IN {hours:Array(UInt32)}
      AND attempt IN {attempts:Array(UInt64)})
FORMAT TabSeparated
