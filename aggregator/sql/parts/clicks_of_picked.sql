-- @counted@: include aggregator/sql/parts/counted_clicks.sql
LEFT JOIN (
    SELECT link_id AS clicked_id, sum(n_human) AS n_humans, sum(n_bot) AS n_bots,
        sum(n_prefetch) AS n_prefetches
    FROM @counted@
    GROUP BY clicked_id) AS clicked
  ON newest.link_id = clicked.clicked_id
