ts >= toDateTime64({from:UInt32}, 3, 'UTC') AND ts < toDateTime64({to:UInt32}, 3, 'UTC')
