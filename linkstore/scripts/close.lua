-- Promise 8, in the blocks' slot.  Closes those of these blocks that have ended,
-- whatever was read of them before.  A closed marker of a lower generation belongs
-- to a block whose holder never opened it: it takes the granted generation, so
-- that a late open fails.  Replies state (0 lost, 1 closed, 2 live), end,
-- generation of each.  It is called for blocks by the million, so that markers are
-- read and written here rather than by read_marker and write_marker.
-- KEYS markers    ARGV generation
local granted, now, reply = tonumber(ARGV[1]), now_ms(), {}
local call, match = redis.call, string.match

local function found(i, state, ends, generation)
  reply[i * 3 - 2], reply[i * 3 - 1], reply[i * 3] = state, ends, generation
end

for i, key in ipairs(KEYS) do
  local text = call('GET', key)
  local had, state, rest, ends =
    match(text or '', '^(%d+) ([oc])( %S+ %d+ (%S+) .*)$')
  if not text then
    found(i, 0, 0, 0)
  elseif not had then
    error('the marker ' .. key .. ' is damaged')
  elseif state == 'o' and time_value(ends) > now then
    found(i, 2, time_reply(time_value(ends)), tonumber(had))
  else
    local generation = tonumber(had)
    local lower = generation < granted
    if lower then generation, had = granted, ARGV[1] end
    if lower or state == 'o' then call('SET', key, had .. ' c' .. rest) end
    found(i, 1, 0, generation)
  end
end
return reply
