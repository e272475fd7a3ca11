SELECT arrayJoin(mapKeys(creations)) AS h,
    max(toUnixTimestamp64Milli(inserted_at)) AS n_newest
FROM ingest_progress
WHERE notEmpty(creations)
  AND inserted_at >= fromUnixTimestamp64Milli(greatest((
        SELECT max(toUnixTimestamp64Milli(read_at))
        FROM settled_creations
        WHERE hour = toDateTime(0, 'UTC')) - {margin:Int64}, 0), 'UTC')
GROUP BY h
