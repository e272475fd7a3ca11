-- include: aggregator/sql/parts/rows_of_sources.sql
  AND (f_known = 0 OR clicks.offset > f_last)
