reported.h >= (SELECT toUInt32(max(unit)) FROM settled WHERE kind = 'kept_from')
  AND (
    -- include: aggregator/sql/parts/is_changed_hour.sql
    OR (done.n_open
      AND toDateTime(done.h + 3600 + {closes:UInt32}, 'UTC') <= now64(3, 'UTC')))
