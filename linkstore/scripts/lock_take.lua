-- Takes the reclaimer's lock, unless another has it.  A script, since SET is
-- refused by a Redis that is full, whose blocks have all the more to be
-- reclaimed.
-- KEYS lock    ARGV value ttl    Replies nil, or who has it.
local there = redis.call('GET', KEYS[1])
if not there then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return there
