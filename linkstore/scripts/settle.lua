-- uses: lib_time lib_range lib_check lib_space; flags: allow-oom
-- Promise 8, in the space's slot.  Replaces members by parts that cover the
-- same blocks, under the lock, and only while those exact members are issued:
-- P first last generation (to the pool, after quarantine), K first last
-- generation score (stays issued), L first last generation (stays issued, lost:
-- score 0 is not a time, and the due scan skips it).
-- The blocks that go to the pool are noted in `reclaimed`, under the generation
-- of their links, until an aggregator has copied them to the archive.
-- KEYS lock space cursor issued pool unopened endless reclaimed
-- ARGV lock-value lock-ttl
--      cursor moves generation capacity gap hold longest day-prefix
--      quarantine members, then that many members, then the parts
-- Replies {1, pooled, moves, highest generation} or {0, why}.
local k, c = space_keys(2), told(3)
local RECLAIMED_MAX = 1000000 -- ranges
local count, now = tonumber(ARGV[12]), now_ms()
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0, 'lock'} end

-- Calls a command for a long list: up to 1000 arguments at a time, the limit of
-- unpack.
local function call_each(command, key, list, note)
  for i = 1, #list, 1000 do
    local reply = redis.call(command, key,
      unpack(list, i, math.min(i + 999, #list)))
    if note then note(reply) end
  end
end

-- The members, in order, as stretches of neighbouring blocks; the parts must
-- cover each stretch completely.
local stretches, members, gone = {}, {}, false
for i = 13, 12 + count do
  local first, last = range_read(ARGV[i])
  local before = stretches[#stretches]
  members[#members + 1] = ARGV[i]
  if before and first < before[2] then error('the members overlap') end
  if before and first == before[2] then
    before[2] = last + 1
  else
    stretches[#stretches + 1] = {first, last + 1}
  end
end
local issued, pool, freed, pooled, retired, s = {}, {}, {}, 0, 0, 1
local reclaimed = {}
local judged = {} -- not checked again under this generation
local free_at = string.format('%.0f', now + tonumber(ARGV[11]))
local function add(list, score, member)
  list[#list + 1] = score
  list[#list + 1] = member
end
for i = 13 + count, #ARGV do
  local kind, from, to, generation, score =
    string.match(ARGV[i], '^([PKL]) (%d+) (%d+) (%d+) ?(%S*)$')
  local first, last = tonumber(from), tonumber(to)
  if score and not (score == '' or score == 'never' or tonumber(score)) then
    error('a part has no score')
  end
  local stretch = stretches[s]
  -- A part that goes beyond its stretch leaves that uncovered.
  if not stretch or first ~= stretch[1] or last < first then
    error('the parts do not cover the members')
  end
  stretch[1] = last + 1
  if stretch[1] == stretch[2] then s = s + 1 end
  local member = from .. '-' .. to .. ':' .. generation
  if kind == 'K' then
    add(issued, score == 'never' and '+inf' or score, member)
  elseif kind == 'L' then
    add(issued, 0, member)
  elseif tonumber(generation) > GENERATION_MAX then
    retired = retired + last - first + 1
  else
    add(pool, free_at, member)
    pooled = pooled + last - first + 1
  end
  if kind == 'P' then
    freed[#freed + 1] = {first, last}
    add(reclaimed, string.format('%.0f', now),
      range_text(first, last, tonumber(generation) - 1))
  end
  if kind == 'P' or score == 'never' then judged[#judged + 1] = {first, last} end
end
if stretches[s] then error('the parts do not cover the members') end

need_sorted_sets(KEYS[8])
local r, why = remember(k, c, now)
if not r then return {0, why} end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
call_each('ZMSCORE', k.issued, members, function(scores)
  for i = 1, #scores do gone = gone or not scores[i] end
end)
if gone then return {0, 'member'} end

call_each('ZREM', k.issued, members)
call_each('ZADD', k.issued, issued)
call_each('ZADD', k.pool, pool)
call_each('ZADD', KEYS[8], reclaimed)
-- Without a reader of the notes, the oldest are dropped.
if #reclaimed > 0 then
  redis.call('ZREMRANGEBYRANK', KEYS[8], 0, -1 - RECLAIMED_MAX)
end
for _, blocks in ipairs(freed) do
  redis.call('ZREMRANGEBYSCORE', k.unopened, blocks[1], blocks[2])
end
for _, blocks in ipairs(judged) do
  redis.call('ZREMRANGEBYSCORE', k.endless, blocks[1], blocks[2])
end
if retired > 0 then redis.call('HINCRBY', k.space, 'retired', retired) end
if pooled + retired > 0 then
  local day = day_key(c.days, now)
  redis.call('HINCRBY', day, 'reclaimed', pooled + retired)
  redis.call('HINCRBY', day, 'pooled', pooled)
end
return {1, pooled, count_moves(k, 1), r.highest}
