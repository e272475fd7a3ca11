-- uses: lib_time lib_check; flags: allow-oom
-- Denies a host, or lifts that.  A revision is a time in microseconds, so that
-- after a loss of data in Redis a change has a later revision than any that was
-- seen: no two changes take less.  A host whose denial was lifted keeps the
-- revision of that, so that programs find it.
-- KEYS hosts changes    ARGV host, who, why; or host alone: lift
-- Replies {1, revision}, or {0, revision, value or ''}: it was so already.
local value = redis.call('HGET', KEYS[1], ARGV[1]) or ''
local since = redis.call('ZSCORE', KEYS[2], ARGV[1])
local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2] or '0'
local denies = #ARGV > 1
if since and (value ~= '') == denies then return {0, since, value} end
if not string.match(last, '^%d+$') or tonumber(last) >= COUNT_MAX - 1 then
  error({err = 'DAMAGED a revision of ' .. KEYS[2] .. ' is damaged'})
end
local time = redis.call('TIME')
local revision = string.format('%.0f',
  math.max(tonumber(last) + 1, time[1] * 1000000 + time[2]))
if denies then
  redis.call('HSET', KEYS[1], ARGV[1],
    table.concat({time_text(now_ms()), ARGV[2], ARGV[3]}, '\t'))
else
  redis.call('HDEL', KEYS[1], ARGV[1])
end
redis.call('ZADD', KEYS[2], revision, ARGV[1])
return {1, revision}
