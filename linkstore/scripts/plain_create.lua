-- Stores a link that belongs to no block; alone in its slot, a live link is
-- never overwritten.  A link there with the same link_id (the first nine bytes
-- of the record) is my own earlier try; another is handed back, so that the
-- caller sees whether it is the same URL of the same owner.
-- KEYS link    ARGV record ttl|never deadline (0: none)
-- Replies {1, expires}, {0, record, PTTL} or {-1}: the deadline has passed.
local now, deadline = now_ms(), tonumber(ARGV[3])
if deadline > 0 and now > deadline then return {-1} end
local set
if ARGV[2] == 'never' then
  set = redis.call('SET', KEYS[1], ARGV[1], 'NX')
else
  set = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PXAT',
    time_text(now + time_value(ARGV[2])))
end
if set then return {1, time_reply(now + time_value(ARGV[2]))} end
local there = redis.call('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if string.sub(there, 1, 9) == string.sub(ARGV[1], 1, 9) then
  return {1, redis.call('PEXPIRETIME', KEYS[1])}
end
return {0, there, left}
