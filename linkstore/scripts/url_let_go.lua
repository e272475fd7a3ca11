-- uses: lib_blocked; flags: allow-oom
-- Lets go the URLs of a link that is let go, unless there is another decision
-- on them.
-- KEYS blocked    ARGV link_id, then ids of URLs
for i = 2, #ARGV do
  local text = redis.call('HGET', KEYS[1], ARGV[i])
  local left, found = {}, false
  for _, d in ipairs(decisions(text)) do
    if d[2] == ARGV[1] then found = true else left[#left + 1] = d[1] end
  end
  if found and #left == 0 then
    redis.call('HDEL', KEYS[1], ARGV[i])
  elseif found then
    redis.call('HSET', KEYS[1], ARGV[i], string.match(text, '^[^\n]*') .. '\n'
      .. table.concat(left, '\n'))
  end
end
return 1
