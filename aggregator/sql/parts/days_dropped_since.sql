SELECT unit
FROM settled
WHERE kind = 'dropped_day'
GROUP BY unit
HAVING max(attempt) != {dropped:UInt64}
