INSERT INTO owner_values (owner, dimension, day, attempt, value, rest, events, clicks, bots,
    prefetches)
