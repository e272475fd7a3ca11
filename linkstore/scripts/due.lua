-- Ranges to be looked at, earliest first.  Score 0 is not a time but marks
-- ranges whose markers are lost.
-- KEYS issued    ARGV until (0: now) skip max
local until_ms = tonumber(ARGV[1])
if until_ms == 0 then until_ms = now_ms() end
local reply = redis.call('ZRANGEBYSCORE', KEYS[1], '(0', until_ms,
  'WITHSCORES', 'LIMIT', ARGV[2], ARGV[3])
table.insert(reply, 1, until_ms)
return reply
