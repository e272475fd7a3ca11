-- uses: lib_time lib_range lib_hold lib_check; flags: allow-oom
-- Repairs the accounting, under the reclaimer's lock, all or nothing: replaces
-- members of the sets i(ssued), p(ool) and o(ut) by parts that do not overlap
-- and cover the same blocks, all of them.  Without members, the parts are
-- blocks below the cursor that were in no set: they become issued, and are
-- noted among the blocks whose holder and end are unknown (set_aside,
-- lib_space.lua).
-- KEYS lock cursor issued pool out why hand space
-- ARGV lock-value lock-ttl who verb reason count, then that many pairs of set
--      and member, then of each part set, first, last, generation and score
-- Replies {1, blocks} or {0, 'lock'|'member'|'cursor'}.
local sets = {i = KEYS[3], p = KEYS[4], o = KEYS[5]}
local count, now = tonumber(ARGV[6]), now_ms()
local parts_at = 7 + 2 * count
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0, 'lock'} end
need_sorted_sets(KEYS[3], KEYS[4], KEYS[5])
need_hand(KEYS[6], KEYS[7])
need_counters(KEYS[8], 'moves')

-- Returns ranges in order as stretches of neighbouring blocks; `apart`: fails
-- if a block comes twice.
local function stretches_of(ranges, apart)
  table.sort(ranges, function(a, b) return a[1] < b[1] end)
  local stretches = {}
  for _, r in ipairs(ranges) do
    local s = stretches[#stretches]
    if s and r[1] <= s[2] and apart then error('the parts overlap') end
    if s and r[1] <= s[2] + 1 then
      s[2] = math.max(s[2], r[2])
    else
      stretches[#stretches + 1] = {r[1], r[2]}
    end
  end
  return stretches
end

local before, after, notes = {}, {}, {}
for i = 7, parts_at - 1, 2 do
  if not redis.call('ZSCORE', sets[ARGV[i]], ARGV[i + 1]) then
    return {0, 'member'}
  end
  local first, last = range_read(ARGV[i + 1])
  before[#before + 1] = {first, last}
  if ARGV[i] == 'o' then
    notes[#notes + 1] = {first, last, redis.call('HGET', KEYS[6], ARGV[i + 1])}
  end
end
local blocks = 0
for i = parts_at, #ARGV, 5 do
  local first, last = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  if last < first then error('an empty part') end
  after[#after + 1] = {first, last}
  blocks = blocks + last - first + 1
end
if #after == 0 then error('no parts') end
local a, b = stretches_of(before, false), stretches_of(after, true)
if count == 0 then
  local cursor = tonumber(redis.call('GET', KEYS[2]) or 0)
  if b[#b][2] >= cursor then return {0, 'cursor'} end
else
  if #a ~= #b then error('the parts do not cover the members') end
  for i = 1, #a do
    if a[i][1] ~= b[i][1] or a[i][2] ~= b[i][2] then
      error('the parts do not cover the members')
    end
  end
end

redis.call('PEXPIRE', KEYS[1], ARGV[2])
for i = 7, parts_at - 1, 2 do
  redis.call('ZREM', sets[ARGV[i]], ARGV[i + 1])
  if ARGV[i] == 'o' then redis.call('HDEL', KEYS[6], ARGV[i + 1]) end
end
for i = parts_at, #ARGV, 5 do
  local set, score = ARGV[i], ARGV[i + 4]
  local first, last = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local member = range_text(first, last, tonumber(ARGV[i + 3]))
  redis.call('ZADD', sets[set], score == 'never' and '+inf' or score, member)
  for _, n in ipairs(notes) do
    if set == 'o' and n[3] and first >= n[1] and first <= n[2] then
      redis.call('HSET', KEYS[6], member, n[3])
    end
  end
end
if count == 0 then
  local aside = {redis.call('HGET', KEYS[8], 'set_aside') or ''}
  for i = parts_at, #ARGV, 5 do
    aside[#aside + 1] = range_text(tonumber(ARGV[i + 1]),
      tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])) .. ' '
  end
  redis.call('HSET', KEYS[8], 'set_aside', table.concat(aside))
end
redis.call('HINCRBY', KEYS[8], 'moves', 1) -- see movement.lua
note_hand(KEYS[7], now, ARGV[4], b[1][1], b[#b][2], blocks, ARGV[3], ARGV[5])
return {1, blocks}
