-- Members of the issued and pool sets: "first-last:generation".
local GENERATION_MAX = 32767

local function range_text(first, last, generation)
  return string.format('%.0f-%.0f:%d', first, last, generation)
end

-- Returns nil for a text that is not a range.
local function range_try(text)
  local first, last, generation = string.match(text, '^(%d+)%-(%d+):(%d+)$')
  first, last, generation = tonumber(first), tonumber(last), tonumber(generation)
  if not first or last < first or generation < 1 or
      generation > GENERATION_MAX then
    return nil
  end
  return first, last, generation
end

local function range_read(text)
  local first, last, generation = range_try(text)
  if not first then
    error({err = 'DAMAGED the range ' .. text .. ' is damaged'})
  end
  return first, last, generation
end

-- Returns the key of the ledger of the UTC day of `ms`.  The calendar
-- arithmetic is Howard Hinnant's "days from civil", backwards.
local function day_key(prefix, ms)
  local floor = math.floor
  local z = floor(ms / 86400000) + 719468
  local era = floor(z / 146097)
  local doe = z - era * 146097
  local yoe = floor((doe - floor(doe / 1460) + floor(doe / 36524)
    - floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + floor(yoe / 4) - floor(yoe / 100))
  local mp = floor((5 * doy + 2) / 153)
  local day = doy - floor((153 * mp + 2) / 5) + 1
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%s%04d%02d%02d', prefix, year, month, day)
end
