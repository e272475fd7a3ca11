WITH
-- include: aggregator/sql/parts/dropped_days.sql
hourly AS (
    SELECT toUInt32(unit) AS h, argMax(blocks, attempt) AS h_blocks,
        argMax(rows, attempt) AS h_rows, max(attempt) AS h_attempt, max(settled_at) AS h_at
    FROM settled
    WHERE kind = 'hour'
    GROUP BY h),
reported AS (
    SELECT toUInt32(intDiv(h, 86400) * 86400) AS d, max(h_attempt) AS d_attempt,
        toUnixTimestamp64Milli(max(h_at)) AS d_at,
        sumIf(h_blocks, h_attempt >= x_attempt) AS d_blocks,
        sumIf(h_rows, h_attempt >= x_attempt) AS d_rows
    FROM hourly
    LEFT JOIN dropped ON toUInt32(intDiv(h, 86400) * 86400) = dropped.x_day
    GROUP BY d),
published AS (
    SELECT toUInt32(unit) AS d, argMax(blocks, attempt) AS p_blocks,
        argMax(rows, attempt) AS p_rows, max(attempt) AS n_attempt,
        toUnixTimestamp64Milli(max(settled_at)) AS n_at
    FROM settled
    WHERE kind = 'link_day'
    GROUP BY d),
done AS (
    SELECT d, if(n_attempt < x_attempt, 0, p_blocks) AS n_blocks,
        if(n_attempt < x_attempt, 0, p_rows) AS n_rows, n_attempt, n_at
    FROM published
    LEFT JOIN dropped ON published.d = dropped.x_day),
held AS (
    SELECT toUInt32(unit) AS d, argMax(blocks, attempt) AS n_blocks,
        argMax(rows, attempt) AS n_rows, max(attempt) AS n_attempt
    FROM settled
    WHERE kind = 'held_day'
    GROUP BY d)
SELECT reported.d, reported.d_blocks, reported.d_rows, done.n_rows, done.n_attempt,
    x.x_attempt, 0, reported.d_at, done.n_at
FROM reported
LEFT JOIN done ON reported.d = done.d
LEFT JOIN held ON reported.d = held.d
LEFT JOIN dropped AS x ON reported.d = x.x_day
