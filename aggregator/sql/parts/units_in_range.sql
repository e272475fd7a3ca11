unit >= toDateTime({start:UInt32}, 'UTC')
  AND unit < toDateTime({end:UInt32}, 'UTC')
