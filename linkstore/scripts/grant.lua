-- Promise 2.  Blocks for one holder and one TTL class: pool ranges out of
-- quarantine first, then the cursor, never past the capacity.  What is granted
-- enters `issued` in this same step.
-- KEYS space cursor issued pool
-- ARGV blocks due_after|never seen capacity gap hold longest day-prefix
local k = {space = KEYS[1], cursor = KEYS[2], issued = KEYS[3], pool = KEYS[4]}
local want, now = tonumber(ARGV[1]), now_ms()
local due = now + time_value(ARGV[2])
local granted, reply = 0, {1}

local function issue(first, last, generation)
  redis.call('ZADD', k.issued, due, range_text(first, last, generation))
  reply[#reply + 1] = first
  reply[#reply + 1] = last
  reply[#reply + 1] = generation
  granted = granted + last - first + 1
  want = want - (last - first + 1)
end

local cursor, why = remember(k, {
  seen = tonumber(ARGV[3]), capacity = tonumber(ARGV[4]),
  gap = tonumber(ARGV[5]), hold = tonumber(ARGV[6]),
  longest = tonumber(ARGV[7]),
}, now)
if not cursor then return {0, why} end

while want > 0 do
  local member, score = unpack(redis.call('ZRANGEBYSCORE', k.pool, '-inf', now,
    'WITHSCORES', 'LIMIT', 0, 1))
  if not member then break end
  local first, last, generation = range_read(member)
  redis.call('ZREM', k.pool, member)
  local until_block = math.min(last, first + want - 1)
  if until_block < last then
    redis.call('ZADD', k.pool, score,
      range_text(until_block + 1, last, generation))
  end
  issue(first, until_block, generation)
end

local fresh = math.min(want, tonumber(ARGV[4]) - cursor)
if fresh > 0 then
  redis.call('SET', k.cursor, string.format('%.0f', cursor + fresh))
  issue(cursor, cursor + fresh - 1, 1)
end
if granted == 0 then return {0, 'exhausted'} end
redis.call('HINCRBY', day_key(ARGV[8], now), 'granted', granted)
return reply
