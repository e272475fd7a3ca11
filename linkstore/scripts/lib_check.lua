-- If a script fails, its earlier writes stay.  So each script checks all that
-- it reads and writes before its first write: a key of another type, or a field
-- that is not a number, ends it there.
local COUNT_MAX = 9007199254740992 -- 2^53: Lua counts exactly up to this

local function need_counters(key, ...)
  local names = {...}
  local values = redis.call('HMGET', key, unpack(names))
  for i, name in ipairs(names) do
    local number = values[i] or '0'
    if not string.match(number, '^%d+$') or tonumber(number) >= COUNT_MAX then
      error({err = 'DAMAGED the field ' .. name .. ' of ' .. key ..
        ' is damaged'})
    end
    values[i] = tonumber(number)
  end
  return values
end

local function need_sorted_sets(...)
  for _, key in ipairs({...}) do redis.call('ZCARD', key) end
end
