-- Promise 8, in the blocks' slot.  Closes those of these blocks that have ended,
-- whatever was read of them before; a link is there through the millisecond that
-- it ends in, and a block with a blocked link has not ended: it is looked at
-- again a while later.  A closed marker of a lower generation belongs to a block whose
-- holder never opened it: it takes the granted generation, so that a late open
-- fails.  Replies state (0 lost, 1 closed, 2 live), end,
-- generation of each.  It is called for blocks by the million, so that markers are
-- read and written here rather than by read_marker and write_marker: most differ
-- by one byte afterwards.
-- KEYS markers    ARGV generation while
local granted, now, reply = tonumber(ARGV[1]), now_ms(), {}
local texts = redis.call('MGET', unpack(KEYS))

-- State, end and generation, and what is to be written: the whole marker, or
-- where the c belongs.  All are read before the first is written.
local function judge(key, text)
  local had, letter, blocked, ends =
    string.match(text, '^(%d+) ([oc])(%d*) %S+ %d+ (%S+) ')
  local generation = tonumber(had)
  ends = time_value(ends)
  if not ends then
    error({err = 'DAMAGED the marker ' .. key .. ' is damaged'})
  end
  if letter == 'o' and ends >= now then
    return 2, time_reply(ends), generation
  end
  if blocked ~= '' then return 2, now + tonumber(ARGV[2]), generation end
  if generation < granted then
    return 1, 0, granted, ARGV[1] .. ' c' .. string.sub(text, #had + 3)
  end
  return 1, 0, generation, letter == 'o' and #had + 1
end

local writes = {}
for i, key in ipairs(KEYS) do
  local state, ends, generation = 0, 0, 0
  if texts[i] then
    state, ends, generation, writes[i] = judge(key, texts[i])
  end
  reply[3 * i - 2], reply[3 * i - 1], reply[3 * i] = state, ends, generation
end
for i, key in ipairs(KEYS) do
  if type(writes[i]) == 'string' then
    redis.call('SET', key, writes[i])
  elseif writes[i] then
    redis.call('SETRANGE', key, writes[i], 'c')
  end
end
return reply
