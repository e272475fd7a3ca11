-- The first step of grant, settle and raise_cursor: checks that this Redis has
-- lost no data.
--
-- A loss is detected if the run_id is not the one noted (a restart, another
-- master), or if the caller has seen more than the record has: more moves, or a
-- higher generation.  The latter proves a loss even with the same run_id: a
-- virtual machine back at a snapshot, a backup loaded by REPLICAOF, a former
-- master again.  After a loss, the blocks that would have been granted next,
-- pool first and then cursor, may have been granted: a safety gap of them
-- enters `issued` as if granted.  The rest of the pool that may have been
-- granted waits for a hold, and is granted under a higher generation.
--
-- The pool is not rewritten at that moment, while all programs wait: the record
-- says how its members are to be treated when they are taken.
--   moves    scripts that moved blocks or confirmed that they were opened; a
--            grant counts once for each block that it granted
--   highest  highest generation granted
--   floor    no pool block is granted under a lower generation
--   waits    times; a member with a score up to one may have been granted
--            before: one generation up for each, and no grant before the last
--   aside    number of blocks at the head of the pool that have yet to enter
--            `issued`, and up to which score
--   set_aside  those that have entered it: "first-last:generation " of each.
--            Their holders and their end are lost: a link in them may never end
local function run_id()
  return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
end

local function space_keys(at)
  return {space = KEYS[at], cursor = KEYS[at + 1], issued = KEYS[at + 2],
    pool = KEYS[at + 3], unopened = KEYS[at + 4], endless = KEYS[at + 5]}
end

-- Reads the caller's high water and settings.
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

-- --- record ---

local function words_of(numbers)
  local texts = {}
  for i, n in ipairs(numbers) do texts[i] = time_text(n) end
  return table.concat(texts, ' ')
end

-- Reads and checks all that a script may find in the space's keys, before the
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

-- Adds to the count of moves, and returns it.
local function count_moves(k, moves)
  return redis.call('HINCRBY', k.space, 'moves', moves)
end

-- --- blocks ---

-- Makes blocks cursor..to-1 issued, without a known holder.
local function skip_blocks(k, r, to, due)
  if to <= r.cursor then return end
  redis.call('ZADD', k.issued, due, range_text(r.cursor, to - 1, 1))
  redis.call('SET', k.cursor, string.format('%.0f', to))
  r.gaps = string.format('%s%.0f-%.0f ', r.gaps, r.cursor, to - 1)
  redis.call('HSET', k.space, 'gaps', r.gaps)
  r.cursor = to
end

-- Returns the generation that a member of the pool is granted under, after the
-- first `waits` of the waits.
local function generation_of(r, score, generation, waits)
  for i = 1, waits do
    if score <= r.waits[i] then generation = generation + 1 end
  end
  return math.max(generation, r.floor)
end

-- Takes members with a score up to `upto` off the pool's head, at most `ranges`
-- of them, until it has `want` blocks.  take(first, upto, generation, score,
-- last) receives the wanted part of each.  It returns true if it took that
-- part, and false if it discarded the whole member.  Damaged members stay in
-- place: verify reports them.  Returns how many blocks are still wanted, and
-- whether the pool is empty.
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

-- Takes up to `want` blocks out of the pool for a grant, and passes each range
-- to `issue`.  Returns how many are still wanted.
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

-- Sets aside a part of the owed blocks, so that no script takes long.  They are
-- issued under the generation that they were to be granted under at the loss.
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

-- --- loss of data ---

-- Lost grants may have used the key versions that were in use recently.
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

-- Returns the safety gap: the configured one, or twice the grants of the
-- busiest minute of today and yesterday.
local function gap_of(r, configured)
  return math.max(configured, 2 * r.today[1], 2 * r.before[1])
end

-- Adds a time: members with a score up to it may have been granted.  Earlier
-- times are kept if some member still has a lower score; if the last one is not
-- over, it is replaced, since nothing was granted after it.
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

-- `proven`: the loss was detected by what the caller has seen.  It is unknown
-- then how far the other data went back.  So the whole pool counts as due, and
-- the grants that the caller saw are owed in addition to the gap.
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
  -- Blocks opened since may be marked as not opened again.
  redis.call('DEL', k.unopened)
  redis.call('HSET', k.space, 'run_id', run_id(), 'waits', words_of(r.waits),
    'floor', time_text(r.floor), 'highest', time_text(r.highest), 'moves',
    time_text(math.max(r.moves, c.moves) + 1))
  redis.call('HINCRBY', k.space, 'forgot', 1)
end

-- Returns the record, with the cursor and the number of owed blocks, or nil and
-- the reason.
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
