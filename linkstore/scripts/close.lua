-- uses: lib_time; flags: allow-oom
-- Promise 8, in the blocks' slot.  Closes those of these blocks that have
-- ended, whatever was read of them before.  A link still exists in the
-- millisecond in which it ends.  A block with a blocked link has not ended: it
-- is checked again a while later.  A closed marker of a lower generation
-- belongs to a block whose holder never opened it: it gets the granted
-- generation, so that a late open fails, and the class -: none of its codes was
-- issued under that generation.
-- Replies state (0 lost, 1 closed, 2 live), end and generation of each block.
-- The script is called for millions of blocks.  So it reads and writes markers
-- itself, without read_marker and write_marker: most change by one byte only.
-- KEYS markers    ARGV generation while
local granted, now, reply = tonumber(ARGV[1]), now_ms(), {}
local texts = redis.call('MGET', unpack(KEYS))

-- Returns state, end and generation, and the value to write: the whole marker,
-- or the position of the c.  All markers are read before the first is written.
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
    local rest = string.gsub(string.sub(text, #had + 3), '^ %S+', ' -', 1)
    return 1, 0, granted, ARGV[1] .. ' c' .. rest
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
