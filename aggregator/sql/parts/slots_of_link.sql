-- @visitors@: people
-- @addresses@: people_ips
-- @open_slots@: include aggregator/sql/parts/open_slots_of_link.sql
SELECT slot AS s, events AS e, clicks AS c, bots AS b, prefetches AS p, @visitors@ AS v,
    @addresses@ AS i
-- include: aggregator/sql/parts/sealed_slots_of_link.sql
@open_slots@
