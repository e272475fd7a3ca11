-- uses: lib_time lib_range lib_check lib_space
-- Promise 1.  Creates a space once.  A space that exists is compared, and gets
-- key versions new to it.  If a space's record is gone but other keys of it
-- remain, it is never created on top of them.
-- KEYS space cursor issued pool out
-- ARGV first-block|none fields, then that many pairs of field and value, then
--      the pairs of key versions and fingerprints
local fields = tonumber(ARGV[2])

-- A version new to the record has made no code yet.
local function add_key(name, fingerprint)
  if redis.call('HSETNX', KEYS[1], name, fingerprint) == 1 then
    redis.call('HSET', KEYS[1], (string.gsub(name, '^key', 'used')), 0)
  end
end

if redis.call('EXISTS', KEYS[1]) == 0 then
  if redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4], KEYS[5]) > 0 then
    return {0, 'remains'}
  end
  if ARGV[1] ~= 'none' then
    redis.call('SET', KEYS[2], ARGV[1])
    redis.call('HSET', KEYS[1], 'first', ARGV[1])
  end
  redis.call('HSET', KEYS[1], 'created', string.format('%.0f', now_ms()),
    'run_id', run_id())
  for i = 3, 2 + 2 * fields, 2 do
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
  for i = 3 + 2 * fields, #ARGV, 2 do add_key(ARGV[i], ARGV[i + 1]) end
  return {1, 'created'}
end
for i = 3, 2 + 2 * fields, 2 do
  local has = redis.call('HGET', KEYS[1], ARGV[i]) or ''
  if has ~= ARGV[i + 1] then return {0, 'differs', ARGV[i], has} end
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
  add_key(ARGV[i], ARGV[i + 1])
end
return {1, added > 0 and 'extended' or 'unchanged'}
