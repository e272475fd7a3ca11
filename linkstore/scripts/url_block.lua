-- uses: lib_time lib_blocked; flags: allow-oom
-- Notes the URLs of a blocked link for its account, once, even if this is sent
-- several times.
-- KEYS blocked    ARGV link_id code key most, then for each URL its id and text
-- If more than `most` links of one URL are blocked, one decision on the URL
-- alone replaces theirs: it stays until it is lifted separately.
local now = now_ms()
redis.call('HLEN', KEYS[1])
for i = 5, #ARGV, 2 do
  local text = redis.call('HGET', KEYS[1], ARGV[i]) or ARGV[i + 1]
  local list, there, alone = decisions(text), false, false
  for _, d in ipairs(list) do
    there = there or d[2] == ARGV[1]
    alone = alone or d[2] == '0'
  end
  if not there and not alone and #list >= tonumber(ARGV[4]) then
    text = string.format('%s\n0 %.0f - %s', ARGV[i + 1], now, ARGV[3])
  elseif not there and #list < tonumber(ARGV[4]) then
    text = string.format('%s\n%s %.0f %s %s', text, ARGV[1], now, ARGV[2],
      ARGV[3])
  end
  redis.call('HSET', KEYS[1], ARGV[i], text)
end
return 1
