-- Damage is per partition, and so are epochs.
--   new     all partitions begin `epoch` at their log's start: so it was
--           written before this migration; read ever after, written no more
--   same    the partition is what it was, as long as nothing beyond `next` was
--           reported
--   renew   the partition begins `epoch` at its log's start
--   resume  the partition begins `epoch` at `next`.  Events from `gap` up to
--           that are in no row, and are told of as lost
--   pass    of `collector pass`, offsets that nobody is to read: events from
--           `gap` up to, without, `next` are passed over, and told of as lost;
--           it begins no epoch
ALTER TABLE ingest_epochs
    MODIFY COLUMN decision Enum8('new' = 1, 'same' = 2, 'renew' = 3,
                                 'resume' = 4, 'pass' = 5);
ALTER TABLE ingest_epochs
    ADD COLUMN IF NOT EXISTS gap UInt64 AFTER next;
