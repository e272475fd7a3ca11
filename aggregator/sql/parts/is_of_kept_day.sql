toDateTime(intDiv(toUnixTimestamp(ts), 86400) * 86400, 'UTC') NOT IN (
    SELECT unit
    FROM settled
    WHERE kind = 'dropped_day')
