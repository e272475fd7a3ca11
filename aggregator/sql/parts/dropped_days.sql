dropped AS (
    SELECT toUInt32(unit) AS x_day, max(attempt) AS x_attempt
    FROM settled
    WHERE kind = 'dropped_day'
    GROUP BY x_day),
