-- @markers@: 'sealing', 'copying'
WITH changed AS (
    SELECT toDateTime(day, 'UTC') AS c_day,
        bitShiftLeft(toUInt64(toUnixTimestamp64Milli(max(at))), 20) AS c_number,
        groupUniqArrayArray(hours) AS c_hours
    FROM rescored
    WHERE rules = 0
      AND import = ''
      AND state = 'done'
      AND at > now64(3, 'UTC') - toIntervalDay(7)
      AND toDateTime(day, 'UTC') NOT IN (SELECT unit FROM settled WHERE kind = 'dropped_day')
    GROUP BY day),
hourly AS (
    SELECT toDateTime(arrayJoin(c_hours), 'UTC') AS c_hour, c_number
    FROM changed)
SELECT (
        SELECT count()
        FROM (
            SELECT unit AS u, max(attempt) AS a
            FROM settled
            WHERE kind IN ('hour', 'held_hour') AND unit IN (SELECT c_hour FROM hourly)
            GROUP BY u) AS s
        INNER JOIN hourly ON s.u = hourly.c_hour
        WHERE a < c_number),
    (
        SELECT uniqExact(hour, attempt)
        FROM stats_hourly AS t
        INNER JOIN hourly ON t.hour = hourly.c_hour
        WHERE dimension = 'total'
          AND hour IN (SELECT c_hour FROM hourly)
          AND attempt < c_number
          AND (hour, attempt) NOT IN (
                SELECT unit, maxIf(attempt, kind = 'hour')
                FROM settled
                WHERE kind IN ('hour', 'held_hour')
                GROUP BY unit
                HAVING argMax(kind, attempt) = 'held_hour')),
    (
        SELECT count()
        FROM settled AS m
        INNER JOIN (
            SELECT c_day, greatest(any(c_number), max(attempt)) AS n_number
            FROM settled
            INNER JOIN changed ON toStartOfDay(settled.unit) = changed.c_day
            WHERE kind = 'hour' AND has(c_hours, toUInt32(unit))
            GROUP BY c_day) AS n ON m.unit = n.c_day
        WHERE kind IN (@markers@)
          AND attempt < n_number
          AND unit NOT IN (
                SELECT unit
                FROM settled
                WHERE kind IN ('link_day', 'held_day')
                GROUP BY unit
                HAVING argMax(kind, attempt) = 'held_day'))
FORMAT TabSeparated
