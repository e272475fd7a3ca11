reported.h >= (SELECT toUInt32(max(unit)) FROM settled WHERE kind = 'kept_from')
  AND (reported.n_blocks != done.n_blocks
    OR reported.n_rows != done.n_rows
    OR (done.n_open
      AND toDateTime(done.h + 3600 + {closes:UInt32}, 'UTC') <= now64(3, 'UTC')))
