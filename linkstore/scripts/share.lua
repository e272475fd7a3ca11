-- uses: lib_time
-- Stores a share, unless its account has the most that it may.  What ended is
-- left out of that number, and out of the list.
-- KEYS share list    ARGV id, text, end (ms, or never), most, what keys of shares begin with
-- Replies 1, or 0: the account has that many.
local id, ends, most = ARGV[1], time_value(ARGV[3]), tonumber(ARGV[4])
if redis.call('ZCARD', KEYS[2]) >= most then
  for _, old in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    if redis.call('EXISTS', ARGV[5] .. old) == 0 then
      redis.call('ZREM', KEYS[2], old)
    end
  end
end
if redis.call('ZCARD', KEYS[2]) >= most then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
if ends ~= math.huge then redis.call('PEXPIREAT', KEYS[1], time_text(ends)) end
redis.call('ZADD', KEYS[2], time_text(now_ms()), id)
return 1
