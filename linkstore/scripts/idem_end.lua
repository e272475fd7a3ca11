-- uses: nothing; flags: allow-oom
-- Marks a plan that was carried out as done, or drops one that never will be;
-- only if it is the same plan that the caller wrote.
-- KEYS record    ARGV plan done|drop
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == 'drop' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], 'd' .. string.sub(ARGV[1], 2), 'KEEPTTL')
return 1
