-- Promise 10.  What an allocator has seen, as soon as it meets a Redis again:
-- before others are granted what a Redis that forgot would grant twice.
-- KEYS space cursor issued pool
-- ARGV seen capacity gap hold longest day-prefix
local cursor, why = remember(
  {space = KEYS[1], cursor = KEYS[2], issued = KEYS[3], pool = KEYS[4]}, {
  seen = tonumber(ARGV[1]), capacity = tonumber(ARGV[2]),
  gap = tonumber(ARGV[3]), hold = tonumber(ARGV[4]),
  longest = tonumber(ARGV[5]), days = ARGV[6],
}, now_ms())
if not cursor then return {0, why} end
return {1, cursor}
