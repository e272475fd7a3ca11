UNION ALL
SELECT rarity, account, owner, slot, {attempt:UInt64}, events, visitor_digest,
    -- include: aggregator/sql/parts/sampled_columns.sql
FROM sampled_clicks
WHERE rarity > 0
  AND
  -- include: aggregator/sql/parts/in_base_sample.sql
