-- kept_from: nothing is settled before `unit`, the first day of a month, and what was is
-- deleted, being older than `settled_days`.  The greatest counts.
ALTER TABLE settled
    MODIFY COLUMN kind Enum8('hour' = 1, 'day' = 2, 'pass' = 3, 'link_day' = 4,
                             'held_hour' = 5, 'held_day' = 6, 'sealed_day' = 7,
                             'sealing' = 8, 'dropped_day' = 9, 'base_hour' = 10,
                             'base_sealed' = 11, 'kept_from' = 12);
