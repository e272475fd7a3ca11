-- The log of manual changes to a space's blocks, newest first:
-- "ms verb first-last blocks who reason".
local function need_hand(why, log)
  redis.call('HLEN', why)
  redis.call('LLEN', log)
end

local function note_hand(key, now, verb, first, last, blocks, who, reason)
  redis.call('LPUSH', key, string.format('%.0f %s %.0f-%.0f %.0f %s %s', now,
    verb, first, last, blocks, who, reason))
  redis.call('LTRIM', key, 0, 999)
end
