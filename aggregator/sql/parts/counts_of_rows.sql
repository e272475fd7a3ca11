count() AS n,
-- include: aggregator/sql/parts/kinds_of_rows.sql
