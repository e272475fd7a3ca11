-- @state@: begun
INSERT INTO rescored (day, run, state, rules, rows, hours, at, host)
SELECT toDate(toDateTime({start:UInt32}, 'UTC')), {run:UInt64}, '@state@', 0, {rows:UInt64},
    {hours:Array(UInt32)}, now64(3, 'UTC'), {host:String}
