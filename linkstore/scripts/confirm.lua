-- uses: lib_check; flags: allow-oom
-- Removes the marks "not opened" of a granted range's blocks that were opened
-- and are about to be used.  This counts as a move.  A Redis that goes back to
-- an earlier state has the marks again, and the marks of blocks whose links
-- never end would deny these links; a caller that has seen more moves detects
-- it.
-- KEYS space unopened    ARGV first last
-- Replies the count of moves, or 0: the space has no record.
need_counters(KEYS[1], 'moves')
need_sorted_sets(KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('ZREMRANGEBYSCORE', KEYS[2], ARGV[1], ARGV[2])
return redis.call('HINCRBY', KEYS[1], 'moves', 1)
