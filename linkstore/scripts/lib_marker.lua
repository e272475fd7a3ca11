-- A range marker: "generation o|c class opened end holder".
local function read_marker(key)
  local text = redis.call('GET', key)
  if not text then return nil end
  local generation, state, class, opened, ends, holder =
    string.match(text, '^(%d+) ([oc]) (%S+) (%d+) (%S+) (.*)$')
  ends = ends and time_value(ends)
  if not ends then
    error({err = 'DAMAGED the marker ' .. key .. ' is damaged'})
  end
  return {
    generation = tonumber(generation), open = state == 'o', class = class,
    opened = tonumber(opened), ends = ends, holder = holder,
  }
end

local function write_marker(key, m)
  redis.call('SET', key, string.format('%d %s %s %.0f %s %s', m.generation,
    m.open and 'o' or 'c', m.class, m.opened, time_text(m.ends), m.holder))
end
