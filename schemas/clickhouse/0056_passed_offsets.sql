-- `collector pass`: offsets that nobody is to read.
--   pass  events from `gap` up to, without, `next` are passed over, and told of
--         as lost; it begins no epoch
ALTER TABLE ingest_epochs
    MODIFY COLUMN decision Enum8('new' = 1, 'same' = 2, 'renew' = 3,
                                 'resume' = 4, 'pass' = 5);
ALTER TABLE ingest_epochs
    ADD COLUMN IF NOT EXISTS reason String AFTER gap;
