-- @left@: n_clicks - n_bots - n_prefetches
SELECT arrayJoin(written)
FROM (
    SELECT toValidUTF8(v) AS group_value, groupUniqArray(v) AS written,
        -- include: aggregator/sql/parts/answer_sums.sql
    FROM (
        @spans@)
    GROUP BY group_value
    ORDER BY @left@ DESC, n_events DESC, group_value
    LIMIT {limit:UInt64})
