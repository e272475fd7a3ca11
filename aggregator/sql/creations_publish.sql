INSERT INTO settled_creations (hour, attempt, read_at, links, settled_at, settler)
SELECT toDateTime({start:UInt32}, 'UTC'), {attempt:UInt64},
    fromUnixTimestamp64Milli({now:Int64}, 'UTC'), n_links, now64(3, 'UTC'), {settler:String}
FROM (
    SELECT sum(links) AS n_links
    FROM creations
    WHERE hour = toDateTime({start:UInt32}, 'UTC') AND attempt = {attempt:UInt64})
WHERE n_links = {links:UInt64} AND n_links >= {was:UInt64}
