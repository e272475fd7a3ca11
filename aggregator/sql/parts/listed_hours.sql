slot >= toDateTime({from:UInt32}, 'UTC')
  AND slot < toDateTime({to:UInt32}, 'UTC')
  AND (hour, attempt) IN (
        arrayZip({hours:Array(DateTime('UTC'))}, {hour_attempts:Array(UInt64)}))
