-- @dimensions@: 'verdict', 'tag'
-- @index@: multiIf(dimension = 'verdict', 0, dimension = 'tag', 1, 2)
-- @open_values@: include aggregator/sql/parts/open_values_of_owners.sql
SELECT @index@ AS d, value AS v, rest AS r, events AS e, clicks AS c, bots AS b, prefetches AS p
-- include: aggregator/sql/parts/values_of_owners.sql
  AND dimension IN (@dimensions@)
@open_values@
