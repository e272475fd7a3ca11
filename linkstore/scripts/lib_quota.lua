-- The counts of an account in hashes of the UTC day and month, such as
-- quota:{acme}:20261122.
local function period_label(period, ms)
  local day = day_key('', ms)
  return period == 'month' and string.sub(day, 1, 6) or day
end

-- Returns the first instant after the period, which is at most 31 days away.
local function period_end(period, ms)
  local label = period_label(period, ms)
  local ends = (math.floor(ms / 86400000) + 1) * 86400000
  while period_label(period, ends) == label do
    ends = ends + 86400000
  end
  return ends
end

local function quota_count(key, field)
  local there = redis.call('HGET', key, field) or '0'
  if #there > 15 or not string.match(there, '^%d+$') then
    error({err = 'DAMAGED the count of ' .. field .. ' is damaged'})
  end
  return tonumber(there)
end
