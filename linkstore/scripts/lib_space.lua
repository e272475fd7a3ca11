-- What grant, settle and raise_cursor do first: make sure that this Redis remembers.
--
-- It has forgotten when its run_id is not the one noted (a restart, another
-- master), or when the caller has seen more than it finds: more moves, a higher
-- generation.  That proves it whatever the run_id says: a virtual machine back
-- at a snapshot, a backup taken over by REPLICAOF, a former master again.
-- Then what would have been granted next, pool first and then cursor, may have
-- been: a safety gap of it enters `issued` as if granted.  The rest of what the
-- pool may have granted waits for a hold, and comes under a higher generation.
--
-- Of the pool nothing is rewritten at that moment, when all programs wait: the
-- record says what is to be done with its members as they are taken.
--   moves    scripts that moved blocks or confirmed that they were opened, a grant
--            for each block it granted
--   highest  generation granted
--   floor    nothing of the pool is granted under a lower generation
--   waits    times; a member with a score up to one may have been granted
--            before: one generation up for each, and nothing before the last
--   aside    blocks at the head of the pool that are still to enter `issued`,
--            and up to which score
--   set_aside  those that have entered it: "first-last:generation " of each.  Who
--            was granted them, and for how long, is forgotten: a link of theirs
--            may be for ever
local function run_id()
  return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
end

local function space_keys(at)
  return {space = KEYS[at], cursor = KEYS[at + 1], issued = KEYS[at + 2],
    pool = KEYS[at + 3], unopened = KEYS[at + 4], endless = KEYS[at + 5]}
end

-- What the caller has seen, and by which settings it goes.
local function told(at)
  local numbers = {}
  for i = 0, 6 do
    numbers[i] = tonumber(ARGV[at + i])
    if not numbers[i] then error('argument ' .. at + i .. ' is no number') end
  end
  return {cursor = numbers[0], moves = numbers[1], generation = numbers[2],
    capacity = numbers[3], gap = numbers[4], hold = numbers[5],
    longest = numbers[6], days = ARGV[at + 7]}
end

-- --- the record ---

local function words_of(numbers)
  local texts = {}
  for i, n in ipairs(numbers) do texts[i] = time_text(n) end
  return table.concat(texts, ' ')
end

-- All that a script may meet in the space's keys is looked at here, before the
-- first write.
local function read_record(k, c, now)
  local counts = need_counters(k.space, 'moves', 'highest', 'floor', 'forgot',
    'retired')
  local texts = redis.call('HMGET', k.space, 'run_id', 'waits', 'aside', 'gaps')
  local r = {
    moves = counts[1], highest = counts[2], floor = counts[3],
    known = texts[1], waits = {}, owed = 0, upto = '-inf',
    gaps = texts[4] or '',
    cursor = tonumber(string.match(redis.call('GET', k.cursor) or '',
      '^%d+$')),
    today = need_counters(day_key(c.days, now), 'busiest', 'granted',
      'reclaimed', 'pooled'),
    before = need_counters(day_key(c.days, now - 86400000), 'busiest'),
  }
  for time in string.gmatch(texts[2] or '', '%d+') do
    r.waits[#r.waits + 1] = tonumber(time)
  end
  local owed, upto = string.match(texts[3] or '', '^(%d+) (%S+)$')
  if tonumber(upto) then
    r.owed, r.upto = tonumber(owed), upto
  end
  need_sorted_sets(k.issued, k.pool, k.unopened, k.endless)
  return r
end

local function write_aside(k, r)
  if r.owed > 0 then
    redis.call('HSET', k.space, 'aside', time_text(r.owed) .. ' ' .. r.upto)
  else
    redis.call('HDEL', k.space, 'aside')
  end
end

-- Replies how often blocks have moved, from now on.
local function count_moves(k, moves)
  return redis.call('HINCRBY', k.space, 'moves', moves)
end

-- --- blocks ---

-- Blocks cursor..to-1 become issued without anybody known to hold them.
local function skip_blocks(k, r, to, due)
  if to <= r.cursor then return end
  redis.call('ZADD', k.issued, due, range_text(r.cursor, to - 1, 1))
  redis.call('SET', k.cursor, string.format('%.0f', to))
  r.gaps = string.format('%s%.0f-%.0f ', r.gaps, r.cursor, to - 1)
  redis.call('HSET', k.space, 'gaps', r.gaps)
  r.cursor = to
end

-- The generation that a member of the pool is granted under, after so many of
-- the waits.
local function generation_of(r, score, generation, waits)
  for i = 1, waits do
    if score <= r.waits[i] then generation = generation + 1 end
  end
  return math.max(generation, r.floor)
end

-- Takes members off the pool's head, of a score up to `upto`, at most `ranges`
-- of them, until `want` blocks are had.  take(first, upto, generation, score,
-- last) gets so much of each as is wanted and says whether it took that, or the
-- whole member for nothing.  What cannot be read stays where it is: verify
-- tells.  Returns how many blocks are still wanted, and whether the pool
-- has no more.
local function take_head(k, upto, want, ranges, take)
  local damaged = 0
  while want > 0 and ranges > 0 do
    local page = redis.call('ZRANGEBYSCORE', k.pool, '-inf', upto,
      'WITHSCORES', 'LIMIT', damaged, math.min(ranges, 64))
    if #page == 0 then return want, true end
    for i = 1, #page, 2 do
      local member, score = page[i], page[i + 1]
      local first, last, generation = range_try(member)
      if not first then
        damaged = damaged + 1
      elseif want > 0 then
        local upto_block = math.min(last, first + want - 1)
        redis.call('ZREM', k.pool, member)
        if take(first, upto_block, generation, tonumber(score), last) then
          want = want - (upto_block - first + 1)
          if upto_block < last then
            redis.call('ZADD', k.pool, score,
              range_text(upto_block + 1, last, generation))
          end
        end
        ranges = ranges - 1
      end
    end
  end
  return want, false
end

-- Takes up to `want` blocks out of the pool, as a grant does, and hands each
-- range to `issue`.  Returns how many are still wanted.
local function take_from_pool(k, r, want, now, issue)
  local wait = r.waits[#r.waits]
  if r.owed > 0 or wait and now < wait then return want end
  return (take_head(k, time_text(now), want, 1024,
    function(first, upto, generation, score, last)
      generation = generation_of(r, score, generation, #r.waits)
      if generation > GENERATION_MAX then
        redis.call('HINCRBY', k.space, 'retired', last - first + 1)
        return false
      end
      issue(first, upto, generation)
      return true
    end))
end

-- A part of what is owed, so that no script takes long.  It is issued under the
-- generation that it was to be granted under when Redis forgot.
local function set_aside(k, r, due)
  if r.owed == 0 then return end
  local ranges = {redis.call('HGET', k.space, 'set_aside') or ''}
  local left, empty = take_head(k, r.upto, r.owed, 512,
    function(first, upto, generation, score)
      generation = generation_of(r, score, generation, #r.waits - 1)
      local text = range_text(first, upto, math.min(generation, GENERATION_MAX))
      redis.call('ZADD', k.issued, due, text)
      ranges[#ranges + 1] = text .. ' '
      return true
    end)
  r.owed = empty and 0 or left
  redis.call('HSET', k.space, 'set_aside', table.concat(ranges))
  write_aside(k, r)
end

-- --- forgetting ---

-- Grants since may have used the key versions that were in use of late.
local function lift_used(k, now)
  local used, latest = {}, 0
  for v = 0, 3 do
    used[v] = tonumber(redis.call('HGET', k.space, 'used:' .. v) or 0) or 0
    latest = math.max(latest, used[v])
  end
  for v = 0, 3 do
    if used[v] > 0 and used[v] >= latest - 86400000 then
      redis.call('HSET', k.space, 'used:' .. v, string.format('%.0f', now))
    end
  end
end

-- The safety gap: what is configured, or twice what was granted in the busiest
-- minute of today and yesterday.
local function gap_of(r, configured)
  return math.max(configured, 2 * r.today[1], 2 * r.before[1])
end

-- Members of a score up to this time may have been granted.  Of earlier such
-- times those count that some member still has before it; while the last one is
-- not over, nothing was granted since.
local function add_wait(k, r, wait, now)
  local head = redis.call('ZRANGE', k.pool, 0, 0, 'WITHSCORES')
  local lowest, kept = tonumber(head[2] or math.huge), {}
  for _, w in ipairs(r.waits) do
    if w >= lowest then kept[#kept + 1] = w end
  end
  if #kept > 0 and now < kept[#kept] then kept[#kept] = nil end
  kept[#kept + 1] = wait
  r.waits = kept
end

-- `proven`: by what the caller has seen.  How far the clock went back with the
-- rest nobody knows, so all of the pool counts as due then, and what the caller
-- saw granted is owed beside the gap.
local function forget(k, r, c, now, due, proven)
  local gap = gap_of(r, c.gap)
  r.owed = r.owed + gap + math.max(c.moves - r.moves, 0)
  if proven or r.upto == '+inf' then
    r.upto = '+inf'
  else
    r.upto = time_text(now)
  end
  add_wait(k, r, now + c.hold, now)
  if proven then
    r.floor = math.max(r.floor, r.highest + 1, c.generation + 1)
    r.highest = math.max(r.highest, c.generation)
  end
  skip_blocks(k, r, math.min(r.cursor + gap, c.capacity), due)
  lift_used(k, now)
  -- What was opened since may be marked as not opened again.
  redis.call('DEL', k.unopened)
  redis.call('HSET', k.space, 'run_id', run_id(), 'waits', words_of(r.waits),
    'floor', time_text(r.floor), 'highest', time_text(r.highest), 'moves',
    time_text(math.max(r.moves, c.moves) + 1))
  redis.call('HINCRBY', k.space, 'forgot', 1)
end

-- Returns the record, with the cursor and how much is owed, or nil and why not.
local function remember(k, c, now)
  local r = read_record(k, c, now)
  if not r.known then return nil, 'nospace' end
  if not r.cursor then return nil, 'nocursor' end
  if c.cursor > c.capacity then return nil, 'badcursor' end
  local due = now + c.hold + c.longest
  local proven = c.moves > r.moves or c.generation > r.highest
  skip_blocks(k, r, c.cursor, due)
  if proven or run_id() ~= r.known then forget(k, r, c, now, due, proven) end
  set_aside(k, r, due)
  return r
end
