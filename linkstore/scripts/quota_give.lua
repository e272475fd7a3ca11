-- uses: nothing; flags: allow-oom
-- Gives back to an account what was taken and not used.
-- KEYS account    ARGV links label bytes label ('': nothing was counted)
-- All counts are read before the first write.
local left = {}
for i, field in ipairs({'links', 'bytes'}) do
  local label, number = ARGV[i * 2], tonumber(ARGV[i * 2 - 1])
  local there = label ~= '' and
    redis.call('HGET', KEYS[1] .. ':' .. label, field)
  if there and (#there > 15 or not string.match(there, '^%d+$')) then
    error({err = 'DAMAGED the count of ' .. field .. ' is damaged'})
  end
  -- A Redis that lost data may count less than is given back.
  left[i] = there and math.min(number, tonumber(there))
end
for i, field in ipairs({'links', 'bytes'}) do
  if left[i] then
    redis.call('HINCRBY', KEYS[1] .. ':' .. ARGV[i * 2], field, -left[i])
  end
end
return 1
