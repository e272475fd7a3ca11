FROM owner_values
WHERE owner IN splitByChar('\n', {bound_owners:String})
  AND day >= toDate(toDateTime({from:UInt32}, 'UTC'))
  AND day <= toDate(toDateTime({to:UInt32}, 'UTC'))
  AND attempt = transform(toUInt32(toDateTime(day, 'UTC')), {days:Array(UInt32)},
        {value_attempts:Array(UInt64)}, toUInt64(0))
