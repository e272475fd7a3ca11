toDate(toDateTime({start:UInt32}, 'UTC'))
