SELECT toUInt32(hour) AS h, sum(redirected), sum(not_found), sum(expired), sum(blocked),
    sum(head), sum(silent), sum(produced), sum(acknowledged), sum(refused + undelivered),
    sum(spooled), sum(replayed), sum(withheld), countIf(inexact)
FROM redirector_counters FINAL
WHERE hour >= toDateTime({from:UInt32}, 'UTC') AND hour < toDateTime({to:UInt32}, 'UTC')
GROUP BY h
