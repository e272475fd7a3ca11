FROM owner_values
WHERE
  -- include: aggregator/sql/parts/copied_row_is_of_owners.sql
  AND day >= toDate(toDateTime({from:UInt32}, 'UTC'))
  AND day <= toDate(toDateTime({to:UInt32}, 'UTC'))
  AND attempt = transform(toUInt32(toDateTime(day, 'UTC')), {days:Array(UInt32)},
        {value_attempts:Array(UInt64)}, toUInt64(0))
