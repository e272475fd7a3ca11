INSERT INTO owner_values (account, owner, dimension, day, attempt, value, rest, events, clicks,
    bots, prefetches)
