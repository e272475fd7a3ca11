bitAnd(cityHash64(unique_identity), 15) = 0
  AND unique_identity != toFixedString('', 20)
  AND
  -- include: aggregator/sql/parts/is_click.sql
