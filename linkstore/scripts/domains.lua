-- uses: lib_time lib_check; flags: allow-oom
-- Stores the domains that all programs take.  A revision is a time, so that
-- after a loss of data in Redis new domains have a later revision than any that
-- was taken.
-- KEYS domains    ARGV revision that the caller read (0: none), text ('': none)
-- Replies {1, revision}, or {0}: another revision is there by now.
local there = need_counters(KEYS[1], 'revision')[1]
if there ~= tonumber(ARGV[1]) then return {0} end
local revision = math.max(there + 1, now_ms())
redis.call('HSET', KEYS[1], 'revision', string.format('%.0f', revision),
  'text', ARGV[2])
return {1, revision}
