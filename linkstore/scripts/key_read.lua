-- uses: lib_time; flags: allow-oom
-- Reads when a key version was last used to make codes.  If Redis has lost
-- parts of the record, it may lack this or say "never" wrongly: codes may then
-- have been made until now.
-- KEYS space hand    ARGV version
-- Replies now, fingerprint ('': the version is not in use), used (0: never),
-- the last manual change.
local key, used = 'key:' .. ARGV[1], 'used:' .. ARGV[1]
local now, last = now_ms(), redis.call('HGET', KEYS[1], used)
local hand = redis.call('LINDEX', KEYS[2], 0) or ''
local print = redis.call('HGET', KEYS[1], key)
if not print then return {now, '', 0, ''} end
if not last or (last == '0' and
    redis.call('HEXISTS', KEYS[1], 'forgot') == 1) then
  last = string.format('%.0f', now)
  redis.call('HSET', KEYS[1], used, last)
end
return {now, print, tonumber(last), hand}
