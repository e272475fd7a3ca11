+ (
    SELECT sum(events)
    FROM sampled_clicks
    WHERE rarity = 0
      AND
      -- include: aggregator/sql/parts/in_base_sample.sql
)
