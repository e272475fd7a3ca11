-- Times are milliseconds since 1970 by this Redis' own clock.  An end that does
-- not come is math.huge in Lua, 'never' in markers and -1 in replies.
local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local function time_value(text)
  if text == 'never' then return math.huge end
  return tonumber(text)
end

local function time_text(ms)
  if ms == math.huge then return 'never' end
  return string.format('%.0f', ms)
end

local function time_reply(ms)
  if ms == math.huge then return -1 end
  return ms
end
