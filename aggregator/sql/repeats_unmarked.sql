SELECT toYYYYMMDD(ts, 'UTC') AS day_of,
    toUInt32(intDiv(toUnixTimestamp(ts), 3600) * 3600), link_id, epoch, topic, partition, offset
FROM
    -- include: aggregator/sql/parts/unmarked_repeats.sql
ORDER BY day_of
LIMIT 1000
FORMAT TabSeparated
