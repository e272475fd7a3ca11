-- uses: lib_time; flags: allow-oom
-- Takes, keeps or releases the lease on a node number.  It is a hash of
-- `holder`, `from` and `until`: the holder makes ids from `from` on.  It stays
-- after the lease has ended, since no holder may make ids below `until` again.
-- With a lease of 0 the holder releases it and reports below which time it made
-- ids: the lease ends there, but not before `from`.
-- KEYS node    ARGV holder lease until
-- Replies {1, from, until} or {0, holder, until}.
local now = now_ms()
local there = redis.call('HMGET', KEYS[1], 'holder', 'until', 'from')
local holder, ends = there[1] or '', tonumber(there[2] or 0)
if holder ~= ARGV[1] and holder ~= '' and ends > now then
  return {0, holder, ends}
end
if ARGV[2] == '0' then
  if holder == ARGV[1] then
    local from = tonumber(there[3] or 0)
    redis.call('HSET', KEYS[1], 'holder', '', 'until',
      time_text(math.max(from, tonumber(ARGV[3]))))
  end
  return {1, 0, 0}
end
-- A new holder starts where all others ended.  The same holder gets this time
-- again: its former answer may have been lost.
local from = ends
if holder == ARGV[1] then from = tonumber(there[3] or 0) end
ends = math.max(ends, now + tonumber(ARGV[2]))
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'until', time_text(ends), 'from',
  time_text(from))
return {1, from, ends}
