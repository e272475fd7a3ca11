-- Counts a visit of a link that may have so many: only while this very link is
-- there and not deleted, of which who asks need not have heard yet.  What is
-- refused is not counted.
-- KEYS link visits    ARGV record-head max
-- Replies {1|0 allowed, used} or {-1, 0}: the link is gone, deleted or another's.
local there = redis.call('GET', KEYS[1])
if not is_link(there, ARGV[1]) or is_deleted(there) then
  return {-1, 0}
end
local used = tonumber(redis.call('GET', KEYS[2]) or 0)
if used >= tonumber(ARGV[2]) then return {0, used} end
used = redis.call('INCR', KEYS[2])
visits_follow(KEYS[2], redis.call('PTTL', KEYS[1]))
return {1, used}
