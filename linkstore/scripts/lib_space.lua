-- What grant and settle do first: make sure that this Redis remembers.
--
-- A run_id other than the one noted means a restart or another master, so the
-- newest grants may be forgotten.  The cursor then jumps by a safety gap, which
-- enters `issued` as if granted, and every pool range waits again, under the
-- next generation: a forgotten grantee may still be using it.
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

-- k names the keys space, cursor, issued, pool; c has the numbers seen,
-- capacity, gap, hold, longest.  Returns the cursor, or nil and why not.
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
    cursor = skip_blocks(k, cursor, math.min(cursor + c.gap, c.capacity), due)
    make_pool_wait(k, now + c.hold)
    redis.call('HSET', k.space, 'run_id', here)
    redis.call('HINCRBY', k.space, 'forgot', 1)
  end
  return cursor
end
