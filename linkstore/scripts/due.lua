-- uses: lib_time
-- Reads due ranges, earliest first: those with a score from ARGV[1] up to
-- ARGV[2], or up to now if ARGV[2] is later or 0.  Score 0 is not a time but
-- marks ranges whose markers are lost.  A reader that leaves ranges in place
-- continues behind the last one it has read, wherever that is by now, or, if
-- that is gone, from its rank.
-- Replies now, the rank behind the last, the number of all due ranges, and an
-- array of members with their scores.
-- KEYS issued    ARGV from until max rank last-member (or empty)
local now, from, upto = now_ms(), tonumber(ARGV[1]), tonumber(ARGV[2])
if upto == 0 or upto > now then upto = now end
local before = redis.call('ZCOUNT', KEYS[1], '-inf',
  from <= 0 and 0 or '(' .. time_text(from))
local past = redis.call('ZCOUNT', KEYS[1], '-inf', time_text(upto))
local rank = tonumber(ARGV[4])
local at = redis.call('ZRANK', KEYS[1], ARGV[5])
if at then rank = at + 1 end
rank = math.max(rank, before)
local last = math.min(rank + tonumber(ARGV[3]), past) - 1
local page = {}
if last >= rank then
  page = redis.call('ZRANGE', KEYS[1], rank, last, 'WITHSCORES')
end
return {now, rank + #page / 2, math.max(past - before, 0), page}
