-- Promise 2.  Blocks for one holder and one TTL class: pool ranges out of
-- quarantine first, then the cursor, never past the capacity.  What is granted
-- enters `issued` in this same step.
-- KEYS space cursor issued pool
-- ARGV blocks due_after|never seen capacity gap hold longest day-prefix version
local k = {space = KEYS[1], cursor = KEYS[2], issued = KEYS[3], pool = KEYS[4]}
local now, reply = now_ms(), {1}
local due = now + time_value(ARGV[2])
local granted = 0

local function issue(first, last, generation)
  redis.call('ZADD', k.issued, due, range_text(first, last, generation))
  reply[#reply + 1] = first
  reply[#reply + 1] = last
  reply[#reply + 1] = generation
  granted = granted + last - first + 1
end

-- How much is granted in a minute: it tells how much can be forgotten.  Those
-- who only read learn from the record how far the cursor may jump.
local function note_rate()
  local minute, count = math.floor(now / 60000), granted
  local at, before = string.match(redis.call('HGET', k.space, 'minute') or '',
    '^(%d+) (%d+)$')
  if tonumber(at) == minute then count = count + tonumber(before) end
  local day = day_key(ARGV[8], now)
  redis.call('HSET', k.space, 'minute',
    string.format('%.0f %.0f', minute, count))
  if count > tonumber(redis.call('HGET', day, 'busiest') or 0) then
    redis.call('HSET', day, 'busiest', string.format('%.0f', count))
  end
  redis.call('HSET', k.space, 'gap',
    string.format('%.0f', gap_of(tonumber(ARGV[5]), ARGV[8], now)))
  redis.call('HINCRBY', day, 'granted', granted)
end

-- When which key version was last used to make codes.  Of those in a record
-- from before this was noted, all may have been until now.
local function note_used()
  local text = string.format('%.0f', now)
  for v = 0, 3 do
    if redis.call('HEXISTS', k.space, 'key:' .. v) == 1 then
      redis.call('HSETNX', k.space, 'used:' .. v, text)
    end
  end
  redis.call('HSET', k.space, 'used:' .. ARGV[9], text)
end

local cursor, why = remember(k, {
  seen = tonumber(ARGV[3]), capacity = tonumber(ARGV[4]),
  gap = tonumber(ARGV[5]), hold = tonumber(ARGV[6]),
  longest = tonumber(ARGV[7]), days = ARGV[8],
}, now)
if not cursor then return {0, why} end

-- A version that was taken out of use, or never put into it: readers may lack
-- its key, and its number may be another's.
if redis.call('HEXISTS', k.space, 'key:' .. ARGV[9]) == 0 then
  return {0, 'nokey', ARGV[9]}
end

local want = take_from_pool(k, tonumber(ARGV[1]), now, issue)
local fresh = math.min(want, tonumber(ARGV[4]) - cursor)
if fresh > 0 then
  redis.call('SET', k.cursor, string.format('%.0f', cursor + fresh))
  issue(cursor, cursor + fresh - 1, 1)
end
if granted == 0 then return {0, 'exhausted'} end
note_rate()
note_used()
return reply
