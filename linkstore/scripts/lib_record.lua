-- A stored link is protobuf with its fields in the order of their numbers:
-- link_id (a tag and eight bytes), generation (absent if 0), version.
local function is_link(record, head)
  return record and string.sub(record, 1, 9) == head
end

local function varint(text, at)
  local value, scale, byte = 0, 1, nil
  repeat
    byte = string.byte(text, at)
    if not byte then error({err = 'DAMAGED a link record is damaged'}) end
    value, scale, at = value + (byte % 128) * scale, scale * 128, at + 1
  until byte < 128
  return value, at
end

-- `record` may be cut after its first 21 bytes.
local function record_version(record)
  local at = 10
  if string.byte(record, at) == 0x10 then
    at = select(2, varint(record, at + 1))
  end
  if string.byte(record, at) ~= 0x18 then return 0 end
  return (varint(record, at + 1))
end

local DELETED, BLOCKED = 1, 2

-- The fields before the state, field 8, are only numbers and texts.  Returns
-- nil for a live link.
local function record_state(record)
  local at, tag, value = 10, 0, 0
  while at <= #record and tag < 0x40 do
    tag, at = varint(record, at)
    value, at = varint(record, at)
    if tag % 8 == 2 then at = at + value end
  end
  if tag == 0x40 then return value end
end

-- Makes the count of a link's visits live exactly as long as the link, or its
-- tombstone.
local function visits_follow(visits, left)
  if left == -1 then
    redis.call('PERSIST', visits)
  else
    redis.call('PEXPIRE', visits, left)
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
