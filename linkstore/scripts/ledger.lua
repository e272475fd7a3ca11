-- uses: lib_time lib_range
-- Reads a space's record, and its ledgers of today and the days before.  The
-- ranges are read separately, in pages.
-- KEYS space cursor issued    ARGV day-prefix days
local now = now_ms()
local record = redis.call('HMGET', KEYS[1], 'created', 'retired', 'forgot',
  'gaps')
local next_due = redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. time_text(now),
  '(+inf', 'WITHSCORES', 'LIMIT', 0, 1)
local skipped = 0
for first, last in string.gmatch(record[4] or '', '(%d+)%-(%d+)') do
  skipped = skipped + tonumber(last) - tonumber(first) + 1
end
local reply = {
  redis.call('EXISTS', KEYS[1]),
  tonumber(redis.call('GET', KEYS[2]) or -1),
  now,
  tonumber(record[1] or 0), tonumber(record[2] or 0),
  tonumber(record[3] or 0), skipped,
  tonumber(next_due[2] or 0),
}
for i = 0, tonumber(ARGV[2]) - 1 do
  local day = redis.call('HMGET', day_key(ARGV[1], now - i * 86400000),
    'granted', 'handed_back', 'reclaimed', 'pooled', 'created')
  for j = 1, 5 do reply[#reply + 1] = tonumber(day[j] or 0) end
end
return reply
