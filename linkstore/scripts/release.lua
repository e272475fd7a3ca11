-- uses: lib_time lib_range lib_hold lib_check; flags: allow-oom
-- Puts the blocks first..last back into circulation, as far as these exact
-- members of `out` contain them: into `issued`, so that the reclaimer checks
-- their markers.  Blocks from the pool are due now.  Issued blocks are due at
-- their former time, but not before now; lost ones stay lost.
-- KEYS issued out why hand space
-- ARGV first last who reason day-prefix, then members
-- Replies {1, blocks} or {0, 'member'}.
local from, to, now = tonumber(ARGV[1]), tonumber(ARGV[2]), now_ms()
need_sorted_sets(KEYS[1], KEYS[2])
need_hand(KEYS[3], KEYS[4])
need_counters(KEYS[5], 'moves')
need_counters(day_key(ARGV[5], now), 'released')
for i = 6, #ARGV do
  if not redis.call('ZSCORE', KEYS[2], ARGV[i]) then return {0, 'member'} end
  local first, last = range_read(ARGV[i])
  if last < from or first > to then error('no block of ' .. ARGV[i]) end
end

local function due_of(note)
  local was, score = string.match(note, '^([ip]) (%S+) ')
  score = tonumber(score)
  if was ~= 'i' or not score then return now end
  if score == 0 then return 0 end
  return math.max(score, now)
end

local function keep(first, last, generation, since, note)
  local text = range_text(first, last, generation)
  redis.call('ZADD', KEYS[2], since, text)
  redis.call('HSET', KEYS[3], text, note)
end

local blocks = 0
for i = 6, #ARGV do
  local since = redis.call('ZSCORE', KEYS[2], ARGV[i])
  local note = redis.call('HGET', KEYS[3], ARGV[i]) or ''
  local first, last, generation = range_read(ARGV[i])
  local a, b = math.max(first, from), math.min(last, to)
  redis.call('ZREM', KEYS[2], ARGV[i])
  redis.call('HDEL', KEYS[3], ARGV[i])
  if first < a then keep(first, a - 1, generation, since, note) end
  if last > b then keep(b + 1, last, generation, since, note) end
  redis.call('ZADD', KEYS[1], due_of(note), range_text(a, b, generation))
  blocks = blocks + b - a + 1
end
redis.call('HINCRBY', KEYS[5], 'moves', 1)
redis.call('HINCRBY', day_key(ARGV[5], now), 'released', blocks)
note_hand(KEYS[4], now, 'release', from, to, blocks, ARGV[3], ARGV[4])
return {1, blocks}
