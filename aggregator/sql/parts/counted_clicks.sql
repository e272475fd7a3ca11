-- @of_links@: AND link_id IN (SELECT link_id FROM links)
-- @hours@: include aggregator/sql/parts/clicks_of_hours.sql
(
    SELECT link_id, effective AS n_human, bots AS n_bot, prefetches AS n_prefetch
    FROM
        -- include: aggregator/sql/parts/counted_link_days.sql
      @of_links@
    UNION ALL
    @hours@)
