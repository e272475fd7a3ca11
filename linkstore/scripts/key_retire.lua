-- uses: lib_time lib_range lib_check lib_space; flags: allow-oom
-- Takes a key version out of use, so that no block is granted for it any more
-- and its number may be given to another key: only under the reclaimer's lock,
-- and only if no block was granted or moved by hand since the search.
-- KEYS lock space hand    ARGV lock-value version fingerprint used hand
local key, used = 'key:' .. ARGV[2], 'used:' .. ARGV[2]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0, 'lock'} end
if redis.call('HGET', KEYS[2], 'run_id') ~= run_id() then
  return {0, 'forgot'}
end
if redis.call('HGET', KEYS[2], key) ~= ARGV[3] or
    redis.call('HGET', KEYS[2], used) ~= ARGV[4] then
  return {0, 'used'}
end
if (redis.call('LINDEX', KEYS[3], 0) or '') ~= ARGV[5] then
  return {0, 'hand'}
end
redis.call('HDEL', KEYS[2], key, used)
return {1}
