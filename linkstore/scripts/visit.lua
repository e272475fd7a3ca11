-- uses: lib_record; flags: allow-oom
-- Counts a visit of a link with a limit of visits, or a fetch that is not a
-- visit, which has a limit, too, while visits are left.  It counts only if the
-- same link is there and not deleted, which the caller need not know yet.  A
-- refused visit is not counted.
-- KEYS link visits    ARGV record-head max-visits [max-fetches, for a fetch]
-- Replies {1: counted|0: no visit is left|2: no fetch is left, visits} or
-- {-1, 0}: the link is gone or deleted, or the code has another owner.
local there = redis.call('GET', KEYS[1])
if not is_link(there, ARGV[1]) or record_state(there) == DELETED then
  return {-1, 0}
end
local used = tonumber(redis.call('HGET', KEYS[2], 'visits') or 0)
if used >= tonumber(ARGV[2]) then return {0, used} end
if ARGV[3] then
  local fetched = tonumber(redis.call('HGET', KEYS[2], 'fetches') or 0)
  if fetched >= tonumber(ARGV[3]) then return {2, used} end
  redis.call('HINCRBY', KEYS[2], 'fetches', 1)
else
  used = redis.call('HINCRBY', KEYS[2], 'visits', 1)
end
visits_follow(KEYS[2], redis.call('PEXPIRETIME', KEYS[1]))
return {1, used}
