-- @rows@: include aggregator/sql/parts/rows_of_links.sql
-- @base@: include aggregator/sql/parts/sampled_base.sql
INSERT INTO sampled_clicks (rarity, account, owner, slot, attempt, events, visitor_digest,
    -- include: aggregator/sql/parts/sampled_columns.sql
    )
SELECT
    -- include: aggregator/sql/parts/rarity_of_visitor.sql
    , account, owner,
    -- include: aggregator/sql/parts/slot_of_row.sql
    , {attempt:UInt64}, 1,
    -- include: aggregator/sql/parts/digest_of_owners_visitor.sql
    ,
    -- include: aggregator/sql/parts/sampled_columns.sql
FROM @rows@
  AND
  -- include: aggregator/sql/parts/is_sampled.sql
@base@
