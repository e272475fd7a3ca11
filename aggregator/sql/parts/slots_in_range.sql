slot >= toDateTime({start:UInt32}, 'UTC')
  AND slot < toDateTime({end:UInt32}, 'UTC')
