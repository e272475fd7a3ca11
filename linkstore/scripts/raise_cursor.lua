-- uses: lib_time lib_range lib_check lib_space; flags: allow-oom
-- Promise 10.  An allocator sends its high water as soon as it connects to
-- Redis, before others are granted what a Redis that lost data would grant
-- twice.
-- KEYS space cursor issued pool unopened endless
-- ARGV cursor moves generation capacity gap hold longest day-prefix
-- Replies {1, cursor, moves, highest generation} or {0, why}.
local k = space_keys(1)
local r, why = remember(k, told(1), now_ms())
if not r then return {0, why} end
return {1, r.cursor, tonumber(redis.call('HGET', k.space, 'moves') or 0),
  r.highest}
