-- uses: nothing; flags: allow-oom
-- Renews the reclaimer's lock for ARGV[2] ms, or with 0 releases it; only while
-- it is still the caller's.
-- KEYS lock    ARGV value ttl
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then
  redis.call('DEL', KEYS[1])
else
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
