-- What a space has issued, lives on, waits with and may reuse, in blocks.
-- KEYS space cursor issued pool    ARGV day-prefix
local now = now_ms()

local function sum(key, from, to)
  local blocks = 0
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, from, to)) do
    local first, last = range_read(member)
    blocks = blocks + last - first + 1
  end
  return blocks
end

local next_due = redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. time_text(now),
  '(+inf', 'WITHSCORES', 'LIMIT', 0, 1)
local day = redis.call('HMGET', day_key(ARGV[1], now), 'granted', 'reclaimed',
  'pooled', 'created')
return {
  redis.call('EXISTS', KEYS[1]),
  tonumber(redis.call('GET', KEYS[2]) or -1),
  sum(KEYS[3], '-inf', '+inf'),
  sum(KEYS[3], '(0', now),
  sum(KEYS[3], 0, 0),
  sum(KEYS[4], '-inf', now),
  sum(KEYS[4], '(' .. time_text(now), '+inf'),
  tonumber(redis.call('HGET', KEYS[1], 'retired') or 0),
  tonumber(next_due[2] or 0),
  tonumber(day[1] or 0), tonumber(day[2] or 0), tonumber(day[3] or 0),
  tonumber(day[4] or 0),
}
