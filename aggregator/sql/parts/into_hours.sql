INSERT INTO stats_hourly (dimension, hour, attempt, slot, value, rest, events, clicks, bots,
    prefetches, people, others, people_ips, others_ips, emptied)
