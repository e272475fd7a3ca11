-- What grant, settle and lift do first: make sure that this Redis remembers.
--
-- A run_id other than the one noted means a restart or another master, so the
-- newest grants may be forgotten.  What would have been granted next, pool first
-- and then cursor, may have been: a safety gap of it enters `issued` as if
-- granted.  Every other pool range waits, under the next generation.
local function run_id()
  return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
end

-- Blocks cursor..to-1 become issued without anybody known to hold them.
local function skip_blocks(k, cursor, to, due)
  if to <= cursor then return cursor end
  redis.call('ZADD', k.issued, due, range_text(cursor, to - 1, 1))
  redis.call('SET', k.cursor, string.format('%.0f', to))
  local gaps = redis.call('HGET', k.space, 'gaps') or ''
  redis.call('HSET', k.space, 'gaps',
    string.format('%s%.0f-%.0f ', gaps, cursor, to - 1))
  return to
end

-- Takes up to `want` blocks out of the pool, as a grant does, and hands each
-- range to `issue`.  Returns how many are still wanted.
local function take_from_pool(k, want, now, issue)
  while want > 0 do
    local member, score = unpack(redis.call('ZRANGEBYSCORE', k.pool, '-inf',
      now, 'WITHSCORES', 'LIMIT', 0, 1))
    if not member then break end
    local first, last, generation = range_read(member)
    redis.call('ZREM', k.pool, member)
    local until_block = math.min(last, first + want - 1)
    if until_block < last then
      redis.call('ZADD', k.pool, score,
        range_text(until_block + 1, last, generation))
    end
    issue(first, until_block, generation)
    want = want - (until_block - first + 1)
  end
  return want
end

local function make_pool_wait(k, until_ms)
  local all = redis.call('ZRANGE', k.pool, 0, -1, 'WITHSCORES')
  redis.call('DEL', k.pool)
  for i = 1, #all, 2 do
    local first, last, generation = range_read(all[i])
    if generation >= GENERATION_MAX then
      redis.call('HINCRBY', k.space, 'retired', last - first + 1)
    else
      redis.call('ZADD', k.pool, math.max(tonumber(all[i + 1]), until_ms),
        range_text(first, last, generation + 1))
    end
  end
end

-- Grants since may have used the key versions that were in use of late.
local function lift_used(k, now)
  local used, latest = {}, 0
  for v = 0, 3 do
    used[v] = tonumber(redis.call('HGET', k.space, 'used:' .. v) or 0)
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
local function gap_of(configured, days, now)
  local today = redis.call('HGET', day_key(days, now), 'busiest') or 0
  local before = redis.call('HGET', day_key(days, now - 86400000), 'busiest')
  return math.max(configured, 2 * tonumber(today), 2 * tonumber(before or 0))
end

-- k names the keys space, cursor, issued, pool; c has the numbers seen,
-- capacity, gap, hold, longest and the prefix days.  Returns the cursor, or nil
-- and why not.
local function remember(k, c, now)
  local known = redis.call('HGET', k.space, 'run_id')
  local cursor = tonumber(redis.call('GET', k.cursor) or nil)
  if not known then return nil, 'nospace' end
  if not cursor then return nil, 'nocursor' end
  if c.seen > c.capacity then return nil, 'badseen' end
  local due = now + c.hold + c.longest
  cursor = skip_blocks(k, cursor, c.seen, due)
  local here = run_id()
  if here ~= known then
    local gap = gap_of(c.gap, c.days, now)
    take_from_pool(k, gap, now, function(first, last, generation)
      redis.call('ZADD', k.issued, due, range_text(first, last, generation))
    end)
    make_pool_wait(k, now + c.hold)
    cursor = skip_blocks(k, cursor, math.min(cursor + gap, c.capacity), due)
    lift_used(k, now)
    redis.call('HSET', k.space, 'run_id', here)
    redis.call('HINCRBY', k.space, 'forgot', 1)
  end
  return cursor
end
