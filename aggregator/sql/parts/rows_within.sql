-- include: aggregator/sql/parts/rows_of_sources.sql
  AND f_known = 1
  AND clicks.offset <= f_last
