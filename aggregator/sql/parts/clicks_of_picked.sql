LEFT JOIN (
    SELECT link_id AS clicked_id, sum(effective) AS n_effective
    FROM
        -- include: aggregator/sql/parts/counted_link_days.sql
      AND link_id IN (SELECT arrayJoin(picked).2)
    GROUP BY clicked_id) AS clicked
  ON newest.link_id = clicked.clicked_id
