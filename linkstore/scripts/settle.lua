-- Promise 8, in the space's slot.  Under the lock, and only while those exact
-- members are issued, replaces members by parts that cover the same blocks:
-- P first last generation (to the pool, after quarantine), K first last
-- generation score (stays issued), L first last generation (stays issued, lost:
-- score 0 is no time, the due scan passes it over).
-- KEYS lock space cursor issued pool
-- ARGV lock-value lock-ttl capacity gap hold longest quarantine day-prefix
--      members, then that many members, then the parts
local k = {space = KEYS[2], cursor = KEYS[3], issued = KEYS[4], pool = KEYS[5]}
local count, now = tonumber(ARGV[9]), now_ms()
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0, 'lock'} end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local cursor, why = remember(k, {
  seen = 0, capacity = tonumber(ARGV[3]), gap = tonumber(ARGV[4]),
  hold = tonumber(ARGV[5]), longest = tonumber(ARGV[6]), days = ARGV[8],
}, now)
if not cursor then return {0, why} end

-- The members, in order, as stretches of neighbouring blocks; the parts must
-- cover each from end to end.
local stretches = {}
for i = 10, 9 + count do
  local first, last = range_read(ARGV[i])
  local before = stretches[#stretches]
  if not redis.call('ZSCORE', k.issued, ARGV[i]) then
    return {0, 'member'}
  end
  if before and first < before[2] then error('the members overlap') end
  if before and first == before[2] then
    before[2] = last + 1
  else
    stretches[#stretches + 1] = {first, last + 1}
  end
end
local parts, s = {}, 1
for i = 10 + count, #ARGV do
  local kind, first, last, generation, score =
    string.match(ARGV[i], '^([PKL]) (%d+) (%d+) (%d+) ?(%S*)$')
  first, last = tonumber(first), tonumber(last)
  local stretch = stretches[s]
  if not stretch or first ~= stretch[1] or last < first or
      last >= stretch[2] then
    error('the parts do not cover the members')
  end
  stretch[1] = last + 1
  if stretch[1] == stretch[2] then s = s + 1 end
  parts[#parts + 1] = {kind, first, last, tonumber(generation), score}
end
if stretches[s] then error('the parts do not cover the members') end

for i = 10, 9 + count do redis.call('ZREM', k.issued, ARGV[i]) end
local pooled, retired = 0, 0
for _, part in ipairs(parts) do
  local kind, first, last, generation, score = unpack(part)
  local member = range_text(first, last, generation)
  if kind == 'K' then
    redis.call('ZADD', k.issued, score == 'never' and '+inf' or score, member)
  elseif kind == 'L' then
    redis.call('ZADD', k.issued, 0, member)
  elseif generation > GENERATION_MAX then
    retired = retired + last - first + 1
  else
    redis.call('ZADD', k.pool, now + tonumber(ARGV[7]), member)
    pooled = pooled + last - first + 1
  end
end
if retired > 0 then redis.call('HINCRBY', k.space, 'retired', retired) end
if pooled + retired > 0 then
  local day = day_key(ARGV[8], now)
  redis.call('HINCRBY', day, 'reclaimed', pooled + retired)
  redis.call('HINCRBY', day, 'pooled', pooled)
end
return {1, pooled}
