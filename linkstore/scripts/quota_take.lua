-- uses: lib_time lib_range lib_quota
-- Takes links and bytes out of an account's limits for a period: both, or
-- nothing.
-- KEYS account    ARGV links max day|month bytes max day|month (max 0: any)
-- Replies {1, links, bytes, label, label}: the counts now, and their periods;
-- or {0, counted, lacks, wait}: what is short (1 links, 2 bytes), and for how
-- many ms.
local now = now_ms()
local counted, labels = {}, {}
for i, field in ipairs({'links', 'bytes'}) do
  local wanted = tonumber(ARGV[i * 3 - 2])
  local max, period = tonumber(ARGV[i * 3 - 1]), ARGV[i * 3]
  counted[i], labels[i] = 0, ''
  if max > 0 then
    labels[i] = period_label(period, now)
    counted[i] = quota_count(KEYS[1] .. ':' .. labels[i], field) + wanted
    if counted[i] > max then
      return {0, counted[i] - wanted, i, period_end(period, now) - now}
    end
  end
end
for i, field in ipairs({'links', 'bytes'}) do
  if labels[i] ~= '' then
    local key = KEYS[1] .. ':' .. labels[i]
    redis.call('HINCRBY', key, field, ARGV[i * 3 - 2])
    if redis.call('TTL', key) < 0 then
      redis.call('PEXPIREAT', key,
        string.format('%.0f', period_end(ARGV[i * 3], now) + 86400000))
    end
  end
end
return {1, counted[1], counted[2], labels[1], labels[2]}
