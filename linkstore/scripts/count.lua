-- uses: lib_time lib_range; flags: allow-oom
-- Adds to a count of today's ledger.
-- KEYS space    ARGV day-prefix field number
return redis.call('HINCRBY', day_key(ARGV[1], now_ms()), ARGV[2], ARGV[3])
