-- include: aggregator/sql/parts/about_days.sql
WHERE reported.d + 86400 > {from:Int64} AND reported.d < {to:Int64}
ORDER BY reported.d
FORMAT TabSeparated
