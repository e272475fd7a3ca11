-- A stored link is protobuf with its fields in the order of their numbers:
-- link_id (a tag and eight bytes), generation (absent if 0), version.
local function is_link(record, head)
  return record and string.sub(record, 1, 9) == head
end

local function damaged()
  error({err = 'DAMAGED a link record is damaged'})
end

-- A number ends with its first byte below 128.  Returns it and the place after
-- it.
local function varint(text, at)
  local byte = string.byte(text, at)
  if byte and byte < 128 then return byte, at + 1 end
  local value, scale = 0, 1
  while byte and byte >= 128 do
    value, scale, at = value + (byte - 128) * scale, scale * 128, at + 1
    byte = string.byte(text, at)
  end
  if not byte then damaged() end
  return value + byte * scale, at + 1
end

-- `record` may be cut after its first 21 bytes.  Returns the place after the
-- version, too.
local function record_version(record)
  local at = 10
  if string.byte(record, at) == 0x10 then
    at = select(2, varint(record, at + 1))
  end
  if string.byte(record, at) ~= 0x18 then return 0, at end
  return varint(record, at + 1)
end

local DELETED, BLOCKED = 1, 2

-- The fields before the state, field 8, are only numbers and texts.  Returns
-- nil for a live link.  `at`: after its version, if that is known.
local function record_state(record, at)
  local byte, find = string.byte, string.find
  at = at or 10
  local tag = byte(record, at)
  while tag and tag < 0x40 do
    if tag % 8 == 2 then
      local len, text = varint(record, at + 1)
      at = text + len
    else
      at = (find(record, '[%z\1-\127]', at + 1) or damaged()) + 1
    end
    tag = byte(record, at)
  end
  if tag == 0x40 then return (varint(record, at + 1)) end
end

-- Makes the count of a link's visits end exactly when the link ends, or its
-- tombstone; -1: never.
local function visits_follow(visits, ends)
  if ends == -1 then
    redis.call('PERSIST', visits)
  else
    redis.call('PEXPIREAT', visits, string.format('%.0f', ends))
  end
end

-- Writes the trace, which prevents that a chosen code is issued again at once
-- when its link has ended.  It is the head of the link's record, and lives for
-- a quarantine longer than the link.  A link that never ends needs none: it is
-- there itself.
local function trace_follow(trace, head, link, quarantine)
  local left = redis.call('PTTL', link)
  if left == -1 then
    redis.call('DEL', trace)
  else
    redis.call('SET', trace, head, 'PX', math.max(left, 0) + quarantine + 1)
  end
end
