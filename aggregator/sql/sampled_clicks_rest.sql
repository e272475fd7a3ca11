-- @rows@: include aggregator/sql/parts/rows_of_links.sql
-- @base_rest@: include aggregator/sql/parts/sampled_base_rest.sql
INSERT INTO sampled_clicks (rarity, slot, attempt, events)
SELECT 0, toDateTime({start:UInt32}, 'UTC'), {attempt:UInt64},
    countIf(NOT (
        -- include: aggregator/sql/parts/is_sampled.sql
    )) @base_rest@
FROM @rows@
