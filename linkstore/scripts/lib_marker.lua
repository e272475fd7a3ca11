-- A block's marker: "generation o|c class opened end holder".  The o is
-- followed by the number of blocked links in the block, if there are any: a
-- block with a blocked link does not end, whatever its end says.
local function read_marker(key)
  local text = redis.call('GET', key)
  if not text then return nil end
  local generation, state, blocked, class, opened, ends, holder =
    string.match(text, '^(%d+) ([oc])(%d*) (%S+) (%d+) (%S+) (.*)$')
  ends = time_value(ends)
  if not ends then
    error({err = 'DAMAGED the marker ' .. key .. ' is damaged'})
  end
  return {
    generation = tonumber(generation), open = state == 'o', class = class,
    opened = tonumber(opened), ends = ends, holder = holder,
    blocked = tonumber(blocked) or 0,
  }
end

local function write_marker(key, m)
  local blocked = m.blocked or 0
  redis.call('SET', key, string.format('%d %s%s %s %.0f %s %s', m.generation,
    m.open and 'o' or 'c', blocked > 0 and string.format('%d', blocked) or '',
    m.class, m.opened, time_text(m.ends), m.holder))
end
