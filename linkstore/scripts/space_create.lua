-- Promise 1.  Creates a space once.  One that is there is compared, and takes
-- key versions new to it; traces of a space whose record is gone are never
-- built upon.
-- KEYS space cursor issued pool
-- ARGV first-block fields, then that many field and value pairs, then the pairs
--      of key versions and fingerprints
local fields = tonumber(ARGV[2])
if redis.call('EXISTS', KEYS[1]) == 0 then
  if redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4]) > 0 then
    return {0, 'remains'}
  end
  redis.call('SET', KEYS[2], ARGV[1])
  redis.call('HSET', KEYS[1], 'created', string.format('%.0f', now_ms()),
    'run_id', run_id(), unpack(ARGV, 3))
  return {1, 'created'}
end
for i = 3, 2 + 2 * fields, 2 do
  local has = redis.call('HGET', KEYS[1], ARGV[i])
  if has ~= ARGV[i + 1] then return {0, 'differs', ARGV[i], has or '' } end
end
local added = 0
for i = 3 + 2 * fields, #ARGV, 2 do
  local has = redis.call('HGET', KEYS[1], ARGV[i])
  if has and has ~= ARGV[i + 1] then
    return {0, 'differs', ARGV[i], has}
  end
  if not has then added = added + 2 end
end
for i = 3 + 2 * fields, #ARGV, 2 do
  redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
end
return {1, added > 0 and 'extended' or 'unchanged'}
