-- uses: lib_time lib_range lib_check; flags: allow-oom
-- Promise 5.  Moves blocks from which no code was issued, and which their
-- holder has closed, to the pool, only while the exact member that was granted
-- is still issued.  They wait there for a hold: if one were granted again at
-- once, and Redis lost both writes, it would come back under the same
-- generation.
-- KEYS issued pool space unopened endless
-- ARGV member first last day-prefix hold
-- Replies the count of moves, or 0: the member is not issued.
local now = now_ms()
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score then return 0 end
need_sorted_sets(KEYS[2], KEYS[4], KEYS[5])
need_counters(KEYS[3], 'moves', 'retired')
need_counters(day_key(ARGV[4], now), 'handed_back')
local first, last, generation = range_read(ARGV[1])
local from, to = tonumber(ARGV[2]), tonumber(ARGV[3])
if from < first or to > last or from > to then
  error('the part is not within ' .. ARGV[1])
end
redis.call('ZREM', KEYS[1], ARGV[1])
if from > first then
  redis.call('ZADD', KEYS[1], score, range_text(first, from - 1, generation))
end
if to < last then
  redis.call('ZADD', KEYS[1], score, range_text(to + 1, last, generation))
end
redis.call('ZREMRANGEBYSCORE', KEYS[4], from, to)
redis.call('ZREMRANGEBYSCORE', KEYS[5], from, to)
if generation >= GENERATION_MAX then
  redis.call('HINCRBY', KEYS[3], 'retired', to - from + 1)
else
  redis.call('ZADD', KEYS[2], now + tonumber(ARGV[5]),
    range_text(from, to, generation + 1))
end
redis.call('HINCRBY', day_key(ARGV[4], now), 'handed_back', to - from + 1)
return redis.call('HINCRBY', KEYS[3], 'moves', 1)
