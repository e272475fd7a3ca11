-- Why nobody is to read the offsets of a decision 'pass'.
ALTER TABLE ingest_epochs
    ADD COLUMN IF NOT EXISTS reason String AFTER gap;
