-- @more_columns@: toString(continent),
-- @of_links@: AND link_id IN (SELECT arrayJoin(CAST('[1,2]', 'Array(UInt64)')))
-- @of_url@: AND url_digest = toFixedString(unhex({url:String}), 16)
-- @of_visitor@: AND unique_identity = toFixedString(unhex({visitor:String}), 20)
-- @after@: AND ts >= fromUnixTimestamp64Milli({next_day:Int64}, 'UTC')
-- @by_day@: toDate(ts),
SELECT toUnixTimestamp64Milli(ts), link_id, event_id, code, domain, account, owner,
    campaign,
    if(empty(tags), '[]', toJSONString(arrayMap(x -> toValidUTF8(x), tags))), outcome, status,
    verdict, country, city, device_class, os_family, ua_family, language, channel,
    referrer_host, referrer_site, edge, @more_columns@ partition, offset, epoch, topic
FROM clicks
WHERE
  -- include: aggregator/sql/parts/exported_rows.sql
  AND
  -- include: aggregator/sql/parts/is_of_caller.sql
  AND append_time < fromUnixTimestamp64Milli({append:Int64}, 'UTC')
  @of_links@
  @of_url@
  @of_visitor@
  @after@
ORDER BY @by_day@ link_id, ts, partition, offset, topic, epoch
LIMIT {max:UInt64}
FORMAT TabSeparated
