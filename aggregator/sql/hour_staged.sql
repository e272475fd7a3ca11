-- include: aggregator/sql/parts/staged_hours.sql
FORMAT TabSeparated
