INSERT INTO link_values (link_id, account, owner, dimension, day, attempt, value, rest, events,
    clicks, bots, prefetches)
