-- uses: lib_time lib_range lib_check lib_space
-- Promise 2.  Grants blocks to one holder for one TTL class: pool ranges out of
-- quarantine first, then from the cursor, never past the capacity.  Granted
-- blocks enter `issued` in this same step.  Each block is marked as not opened,
-- until its holder confirms that it has opened it; only then it is used.  A
-- block of a class that never ends is due after the hold: the run that finds it
-- open puts it off for ever.  A quarantine is over when it is over by this
-- Redis' clock and by the caller's, since a clock that is ahead would shorten
-- it.
-- KEYS space cursor issued pool unopened endless
-- ARGV cursor moves generation capacity gap hold longest day-prefix
--      blocks due_after|never version caller's-clock
-- Replies {1, moves, highest generation, then first, last and generation of
-- each range} or {0, why}.
local k, c = space_keys(1), told(1)
local now, reply = now_ms(), {1, 0, 0}
local want, endless = tonumber(ARGV[9]), ARGV[10] == 'never'
local due = now + (endless and c.hold or tonumber(ARGV[10]))
local version = ARGV[11]
local granted, highest = 0, 0
local sure = math.min(now, tonumber(ARGV[12]))

-- A reused block has a marker before it is opened, and again if Redis loses the
-- write that opened it.  So for a class that never ends the marker proves
-- nothing.
local function issue(first, last, generation)
  redis.call('ZADD', k.issued, due, range_text(first, last, generation))
  for block = first, last do
    local mark = string.format('%.0f:%d', block, generation)
    redis.call('ZADD', k.unopened, block, mark)
    if endless and generation > 1 then
      redis.call('ZADD', k.endless, block, mark)
    end
  end
  reply[#reply + 1] = first
  reply[#reply + 1] = last
  reply[#reply + 1] = generation
  granted = granted + last - first + 1
  highest = math.max(highest, generation)
end

-- Notes how much is granted in a minute, which limits how much can be lost.
-- Programs that only read learn from the record how far the cursor may jump.
local function note_rate(r)
  local minute, count = math.floor(now / 60000), granted
  local at, before = string.match(redis.call('HGET', k.space, 'minute') or '',
    '^(%d+) (%d+)$')
  if tonumber(at) == minute then count = count + tonumber(before) end
  local day = day_key(c.days, now)
  redis.call('HSET', k.space, 'minute',
    string.format('%.0f %.0f', minute, count))
  if count > r.today[1] then
    r.today[1] = count
    redis.call('HSET', day, 'busiest', string.format('%.0f', count))
  end
  redis.call('HSET', k.space, 'gap', string.format('%.0f', gap_of(r, c.gap)))
  redis.call('HINCRBY', day, 'granted', granted)
end

-- Notes when the key version was last used to make codes.
local function note_used()
  redis.call('HSET', k.space, 'used:' .. version, string.format('%.0f', now))
end

local r, why = remember(k, c, now)
if not r then return {0, why} end

-- The version was taken out of use, or never put into it: readers may lack its
-- key, and its number may have been given to another key.
if redis.call('HEXISTS', k.space, 'key:' .. version) == 0 then
  return {0, 'nokey', version}
end

want = take_from_pool(k, r, want, sure, issue)
local fresh = math.min(want, c.capacity - r.cursor)
if fresh > 0 then
  redis.call('SET', k.cursor, string.format('%.0f', r.cursor + fresh))
  issue(r.cursor, r.cursor + fresh - 1, 1)
end
if granted == 0 then
  if redis.call('ZCOUNT', k.pool, '(' .. time_text(sure), time_text(now)) > 0 then
    return {0, 'clock'}
  end
  return {0, 'exhausted'}
end
if highest > r.highest then
  r.highest = highest
  redis.call('HSET', k.space, 'highest', highest)
end
note_rate(r)
note_used()
reply[2], reply[3] = count_moves(k, granted), r.highest
return reply
