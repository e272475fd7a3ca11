-- An event that was sent twice is one click: of its rows all but one are 'repeated', which
-- the aggregator finds by event_id once one of them says maybe_sent, and are counted as
-- events only.
ALTER TABLE clicks
    MODIFY COLUMN outcome Enum8('unspecified' = 0, 'redirected' = 1,
                                'not_found' = 2, 'expired' = 3, 'blocked' = 4,
                                'head' = 5, 'repeated' = 6);
-- Of rows_repeated, those that are 'repeated'.
ALTER TABLE reconciled_hours
    ADD COLUMN IF NOT EXISTS rows_removed UInt64 AFTER rows_repeated;
