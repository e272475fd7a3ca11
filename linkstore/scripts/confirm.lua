-- Blocks of a granted range were opened and are about to be used: they are not
-- marked as not opened any more.  That counts as a move.  A Redis that goes back
-- to before it has the marks again, and those of blocks granted for ever would say
-- that links without an end are none: whoever has seen more moves notices.
-- KEYS space unopened    ARGV first last
-- Replies how often blocks have moved, or 0: the space has no record.
need_counters(KEYS[1], 'moves')
need_sorted_sets(KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('ZREMRANGEBYSCORE', KEYS[2], ARGV[1], ARGV[2])
return redis.call('HINCRBY', KEYS[1], 'moves', 1)
