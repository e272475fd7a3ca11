-- uses: nothing; flags: allow-oom
-- Takes the reclaimer's lock, unless another run has it.  A full Redis refuses
-- SET, but not this script: then blocks need to be reclaimed all the more.
-- KEYS lock    ARGV value ttl    Replies nil, or the holder's value.
local there = redis.call('GET', KEYS[1])
if not there then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return there
