INSERT INTO settled_creations (hour, attempt, read_at, links, settled_at, settler)
SELECT toDateTime({start:UInt32}, 'UTC'), {attempt:UInt64},
    fromUnixTimestamp64Milli({now:Int64}, 'UTC'), n_links, now64(3, 'UTC'), {settler:String}
FROM (
    SELECT sumIf(links, by_owner) AS n_links, sumIf(links, NOT by_owner) AS n_others
    FROM creations
    WHERE hour = toDateTime({start:UInt32}, 'UTC') AND attempt = {attempt:UInt64})
WHERE n_links = {links:UInt64} AND n_others = n_links AND n_links >= {was:UInt64}
