SELECT toUInt64(v) AS link, t >= toDateTime({start:UInt32}, 'UTC') AS is_now,
    -- include: aggregator/sql/parts/answer_sums.sql
FROM (
    @spans@)
WHERE v != '0'
GROUP BY link, is_now
