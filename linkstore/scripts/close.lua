-- Promise 8, in the blocks' slot.  Closes those of these blocks that have ended,
-- whatever was read of them before; a link is there through the millisecond that
-- it ends in.  A closed marker of a lower generation belongs to a block whose
-- holder never opened it: it takes the granted generation, so that a late open
-- fails.  Replies state (0 lost, 1 closed, 2 live), end,
-- generation of each.  It is called for blocks by the million, so that markers are
-- read and written here rather than by read_marker and write_marker: most differ
-- by one byte afterwards.
-- KEYS markers    ARGV generation
local granted, now, reply = tonumber(ARGV[1]), now_ms(), {}
local texts = redis.call('MGET', unpack(KEYS))

-- State, end and generation.
local function close(key, text)
  local had, letter, ends =
    string.match(text, '^(%d+) ([oc]) %S+ %d+ (%S+) ')
  local generation = tonumber(had)
  if not generation then error('the marker ' .. key .. ' is damaged') end
  ends = time_value(ends)
  if letter == 'o' and ends >= now then
    return 2, time_reply(ends), generation
  end
  if generation < granted then
    redis.call('SET', key, ARGV[1] .. ' c' .. string.sub(text, #had + 3))
    return 1, 0, granted
  end
  if letter == 'o' then redis.call('SETRANGE', key, #had + 1, 'c') end
  return 1, 0, generation
end

for i, key in ipairs(KEYS) do
  local state, ends, generation = 0, 0, 0
  if texts[i] then state, ends, generation = close(key, texts[i]) end
  reply[3 * i - 2], reply[3 * i - 1], reply[3 * i] = state, ends, generation
end
return reply
