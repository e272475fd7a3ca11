-- @dimension@: verdict
SELECT events AS e, clicks AS c, bots AS b, prefetches AS p
-- include: aggregator/sql/parts/values_of_owners.sql
  AND rest
  AND value = ''
  AND dimension = '@dimension@'
