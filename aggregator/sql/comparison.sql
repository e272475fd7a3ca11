-- @dimensions@: 'total', 'country'
-- @one@: SELECT toUInt32(toStartOfDay(hour)) AS d, sum(events) AS n FROM stats_hourly GROUP BY d
-- @other@: SELECT 0 AS d, 'total' AS m, toUInt64(0) AS n, false AS is_one
-- @and_which_days@: AND NOT is_dropped
SELECT d, n_one, found[wrong[1]], length(wrong), wrong[1], is_dropped
FROM (
    SELECT d, sumIf(n, is_one) AS n_one,
        CAST((groupArrayIf(m, NOT is_one), groupArrayIf(n, NOT is_one)),
            'Map(String, UInt64)') AS found,
        arrayFilter(x -> found[x] != n_one, [@dimensions@]) AS wrong,
        d IN (SELECT toUInt32(unit) FROM settled WHERE kind = 'dropped_day') AS is_dropped
    FROM (
        SELECT d, '' AS m, n, true AS is_one
        FROM (
            @one@)
        UNION ALL
        @other@)
    WHERE toDateTime(d, 'UTC') >= (SELECT max(unit) FROM settled WHERE kind = 'kept_from')
      @and_which_days@
    GROUP BY d
    HAVING notEmpty(wrong))
ORDER BY d
