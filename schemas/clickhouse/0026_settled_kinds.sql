-- What else is decided of an hour or day.
--   day        of programs before: clicks_hourly and visit_statistics were
--              swapped in; nothing reads them now but the settler, which takes
--              a day over from there whose raw rows are gone
--   link_day   link_slots and link_days of that UTC day are published under
--              `attempt`
--   held_hour, held_day
--              rows that had been settled before, or that collectors had told
--              of, are gone: what was published before stays, until something
--              else changes the hour or `aggregator settle --allow-fewer`
-- `rows` is what collectors told of, a block told of twice being counted once.
ALTER TABLE settled
    MODIFY COLUMN kind Enum8('hour' = 1, 'day' = 2, 'pass' = 3, 'link_day' = 4,
                             'held_hour' = 5, 'held_day' = 6);
