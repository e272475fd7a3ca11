-- @dimension@: verdict
-- @open_values@: include aggregator/sql/parts/open_values_of_owners.sql
SELECT value AS v, events AS e, clicks AS c, bots AS b, prefetches AS p
-- include: aggregator/sql/parts/values_of_owners.sql
  AND NOT rest
  AND dimension = '@dimension@'
@open_values@
