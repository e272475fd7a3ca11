INSERT INTO day_values (dimension, day, attempt, value, rest, events, clicks, bots, prefetches)
