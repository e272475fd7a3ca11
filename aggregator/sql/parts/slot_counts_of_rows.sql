count() AS e,
-- include: aggregator/sql/parts/kinds_of_rows.sql
