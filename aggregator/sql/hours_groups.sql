-- @keys@: toString(country) AS v1,
-- @names@: grouping(v1) = 0, 'country',
-- @values@: grouping(v1) = 0, v1,
-- @states@: , uniqCombinedStateIf(14)(link_id, outcome = 'redirected') AS s0
-- @rows@: clicks
-- @added@: AND offset >= 10
-- @sets@: (h, quarter), (h, quarter, v1)
SELECT intDiv(toUnixTimestamp(ts), 3600) * 3600 AS h,
    -- include: aggregator/sql/parts/slot_of_row.sql
    AS quarter,
    @keys@
    multiIf(@names@ 'total') AS d, multiIf(@values@ '') AS v,
    -- include: aggregator/sql/parts/counts_of_rows.sql
    @states@
FROM @rows@
WHERE
    -- include: aggregator/sql/parts/is_in_range.sql
  AND h IN {hours:Array(UInt32)}
  @added@
GROUP BY GROUPING SETS (@sets@)
