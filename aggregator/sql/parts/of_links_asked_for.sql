AND link_id IN (
    SELECT link_id
    FROM links
    WHERE
      -- include: aggregator/sql/parts/is_link_asked_for.sql
)
