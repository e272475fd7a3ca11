SELECT sum(events)
-- include: aggregator/sql/parts/values_of_owners.sql
  AND rest
  AND value = ''
  AND dimension = 'link'
FORMAT TabSeparated
