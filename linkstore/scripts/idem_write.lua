-- uses: lib_time
-- Writes "state deadline rest" only if the present record is the expected one
-- ('': none).
-- KEYS record    ARGV expected state window rest keep
-- Replies {now, present record, 1 if it was written}.
local now, there = now_ms(), redis.call('GET', KEYS[1]) or ''
if there ~= ARGV[1] then return {now, there, 0} end
local record = string.format('%s %.0f %s', ARGV[2], now + tonumber(ARGV[3]),
  ARGV[4])
redis.call('SET', KEYS[1], record, 'PX', ARGV[5])
return {now, record, 1}
