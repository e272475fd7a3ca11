-- uses: lib_time lib_range lib_hold lib_check; flags: allow-oom
-- Takes the blocks first..last out of circulation, as far as these exact
-- members of `issued` and `pool` contain them; the rest of a member stays in
-- its set.  All or nothing.  A note keeps the former state of the blocks, who
-- took them and why; the log of manual changes gets a line.
-- KEYS issued pool out why hand space
-- ARGV first last who reason day-prefix, then pairs of i|p and member
-- Replies {1, blocks} or {0, 'member'}.
local from, to, now = tonumber(ARGV[1]), tonumber(ARGV[2]), now_ms()
local sets = {i = KEYS[1], p = KEYS[2]}
need_sorted_sets(KEYS[1], KEYS[2], KEYS[3])
need_hand(KEYS[4], KEYS[5])
need_counters(KEYS[6], 'moves')
need_counters(day_key(ARGV[5], now), 'held')
for i = 6, #ARGV, 2 do
  if not redis.call('ZSCORE', sets[ARGV[i]], ARGV[i + 1]) then
    return {0, 'member'}
  end
  local first, last = range_read(ARGV[i + 1])
  if last < from or first > to then error('no block of ' .. ARGV[i + 1]) end
end
local blocks = 0
for i = 6, #ARGV, 2 do
  local set, member = sets[ARGV[i]], ARGV[i + 1]
  local score = redis.call('ZSCORE', set, member)
  local first, last, generation = range_read(member)
  local a, b = math.max(first, from), math.min(last, to)
  local taken = range_text(a, b, generation)
  redis.call('ZREM', set, member)
  if first < a then
    redis.call('ZADD', set, score, range_text(first, a - 1, generation))
  end
  if last > b then
    redis.call('ZADD', set, score, range_text(b + 1, last, generation))
  end
  redis.call('ZADD', KEYS[3], now, taken)
  redis.call('HSET', KEYS[4], taken,
    string.format('%s %s %s %s', ARGV[i], score, ARGV[3], ARGV[4]))
  blocks = blocks + b - a + 1
end
redis.call('HINCRBY', KEYS[6], 'moves', 1)
redis.call('HINCRBY', day_key(ARGV[5], now), 'held', blocks)
note_hand(KEYS[5], now, 'hold', from, to, blocks, ARGV[3], ARGV[4])
return {1, blocks}
