INSERT INTO link_days (link_id, day, attempt, pv, uv, ip, human_uv, human_ip, effective,
    ineffective)
SELECT l, toDate(toDateTime({start:UInt32}, 'UTC')), {attempt:UInt64}, sum(n) AS nn,
    uniqExactArray(arrayConcat(hv, ov)), uniqExactArray(arrayConcat(hi, oi)),
    uniqExactArray(hv), uniqExactArray(hi), sum(c) - sum(b) - sum(p) AS e, nn - e
FROM (
    -- include: aggregator/sql/parts/dropped_slots.sql
)
GROUP BY l
