-- Answers whose event a redirector did not send, since there were more of them than
-- redirector.event_rate_... lets through: no event is missed of these.  The collector writes
-- the first column, so it is started after this was applied; rows from before have 0.
ALTER TABLE redirector_counters
    ADD COLUMN IF NOT EXISTS withheld UInt64 AFTER replayed;
ALTER TABLE reconciled_hours
    ADD COLUMN IF NOT EXISTS withheld UInt64 AFTER replayed;
