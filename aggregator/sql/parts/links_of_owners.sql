-- @open_links@: include aggregator/sql/parts/open_links_of_owners.sql
SELECT l AS link, is_now,
    -- include: aggregator/sql/parts/answer_sums.sql
FROM (
    SELECT toUInt64OrZero(value) AS l,
        toDateTime(day, 'UTC') >= toDateTime({start:UInt32}, 'UTC') AS is_now, events AS e,
        clicks AS c, bots AS b, prefetches AS p
    -- include: aggregator/sql/parts/values_of_owners.sql
      AND NOT rest
      AND dimension = 'link'
    @open_links@)
GROUP BY link, is_now
