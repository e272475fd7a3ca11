hour >= toDateTime({start:UInt32}, 'UTC')
  AND hour < toDateTime({end:UInt32}, 'UTC')
