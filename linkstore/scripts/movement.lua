-- uses: lib_time lib_range
-- Reads the counters of all moves in the sets of a space, as a text: while it
-- stays the same, no member has come or gone.  Each script that moves blocks
-- raises one of them.  Also reads the cursor.
-- KEYS space cursor    ARGV day-prefix
-- Replies {1, cursor, text, now, retired, first}, or {0, 'nospace'|'nocursor'}.
local now, cursor = now_ms(), redis.call('GET', KEYS[2])
local record = redis.call('HMGET', KEYS[1], 'number', 'forgot', 'retired',
  'first', 'moves')
if not record[1] then return {0, 'nospace'} end
if not cursor then return {0, 'nocursor'} end
local moves = cursor .. ' ' .. (record[2] or 0) .. ' ' ..
  (record[5] or 0)
for day = 0, 1 do
  local counts = redis.call('HMGET', day_key(ARGV[1], now - day * 86400000),
    'granted', 'handed_back', 'reclaimed', 'held', 'released')
  for i = 1, 5 do moves = moves .. ' ' .. (counts[i] or 0) end
end
return {1, cursor, moves, now, tonumber(record[3] or 0),
  tonumber(record[4] or 0)}
