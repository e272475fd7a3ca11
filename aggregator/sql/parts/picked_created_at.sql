AND created_at IN (
    SELECT fromUnixTimestamp64Milli(toInt64(arrayJoin(picked).1), 'UTC'))
