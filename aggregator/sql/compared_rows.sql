SELECT toUInt32(toDateTime(toDate(_partition_id), 'UTC')) AS d, count() AS n
FROM clicks
GROUP BY d
