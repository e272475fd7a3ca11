SELECT toUInt8(kind = 'hour'), toUnixTimestamp64Milli(min(settled_at)) AS since,
    length(
        arrayDistinct(
            arrayMap(one -> one.1,
                arrayFilter(one -> toUnixTimestamp64Milli(one.2) > since,
                    groupArray((unit, settled_at))))))
FROM settled
WHERE kind IN ('hour', 'link_day')
  AND settled_at > fromUnixTimestamp64Milli({since:Int64}, 'UTC')
  AND settled_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC')
  AND unit + if(kind = 'hour', 3600, 86400)
      <= toDateTime(intDiv({now:Int64}, 1000) - 3600, 'UTC')
GROUP BY kind
FORMAT TabSeparated
