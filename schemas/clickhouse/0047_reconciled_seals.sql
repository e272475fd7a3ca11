-- By which attempt the hour's day had been sealed before it was reconciled; 0: it was not.
-- That tells what is to be reconciled once more, and no time does: attempts only grow,
-- while ClickHouse's clock may be set back.  Of rows before, the attempt that their time
-- would have made.
ALTER TABLE reconciled_hours
    ADD COLUMN IF NOT EXISTS sealed_by UInt64
    DEFAULT bitShiftLeft(toUInt64(toUnixTimestamp64Milli(reconciled_at)), 20);
