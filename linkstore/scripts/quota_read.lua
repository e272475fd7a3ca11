-- uses: lib_time lib_range lib_quota; flags: allow-oom
-- Reads what an account has used of its limits for a period.
-- KEYS account    ARGV day|month day|month: the periods of links and of bytes
-- Replies {links, end, bytes, end}: the counts, and when their periods end.
local now = now_ms()
local reply = {}

for i, field in ipairs({'links', 'bytes'}) do
  reply[i * 2 - 1] =
    quota_count(KEYS[1] .. ':' .. period_label(ARGV[i], now), field)
  reply[i * 2] = period_end(ARGV[i], now)
end
return reply
