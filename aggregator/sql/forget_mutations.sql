SELECT count()
-- include: aggregator/sql/parts/mutations_under_way.sql
  AND position(command, 'unique_identity = ') > 0
FORMAT TabSeparated
