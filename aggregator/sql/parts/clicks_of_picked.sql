-- @counted@: include aggregator/sql/parts/counted_clicks.sql
LEFT JOIN (
    SELECT link_id AS clicked_id, sum(n_one) AS n_effective
    FROM @counted@
    GROUP BY clicked_id) AS clicked
  ON newest.link_id = clicked.clicked_id
