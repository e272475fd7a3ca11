-- uses: lib_range
-- Reads one page of the issued or the pool set: the number of blocks with score
-- 0, with a score up to now, and with a later one.  It continues behind the
-- last member of the page before, wherever that is by now, or, if that is gone,
-- from its rank.  Of the blocks with a later score, it also counts those of the
-- space's gaps, which have no known holder.
-- KEYS set space    ARGV now max rank last-member (or empty) overdue
local now, rank = tonumber(ARGV[1]), tonumber(ARGV[3])
local late, overdue = tonumber(ARGV[5]), 0
local at = redis.call('ZRANK', KEYS[1], ARGV[4])
if at then rank = at + 1 end
local page = redis.call('ZRANGE', KEYS[1], rank, rank + tonumber(ARGV[2]) - 1,
  'WITHSCORES')

-- The gaps, "first-last" (generation 1) or "first-last:generation", as ranges
-- that do not overlap.
local gaps = {}
local function add_gaps(words)
  for first, last, of in string.gmatch(words or '', '(%d+)%-(%d+):?(%d*)') do
    gaps[#gaps + 1] = {tonumber(first), tonumber(last), tonumber(of) or 1}
  end
end
local words = redis.call('HMGET', KEYS[2], 'gaps', 'set_aside')
add_gaps(words[1])
add_gaps(words[2])
table.sort(gaps, function(a, b)
  if a[3] ~= b[3] then return a[3] < b[3] end
  return a[1] < b[1]
end)
for i = 2, #gaps do
  local before = gaps[i - 1]
  if before[3] == gaps[i][3] then
    gaps[i][1] = math.max(gaps[i][1], before[2] + 1)
    gaps[i][2] = math.max(gaps[i][2], before[2])
  end
end
local function count_gaps(first, last, generation)
  local blocks = 0
  for _, gap in ipairs(gaps) do
    if gap[3] == generation then
      blocks = blocks +
        math.max(math.min(last, gap[2]) - math.max(first, gap[1]) + 1, 0)
    end
  end
  return blocks
end

local zero, past, later, lowest, highest, gap_blocks = 0, 0, 0, 0, 0, 0
for i = 1, #page, 2 do
  local first, last, generation = range_read(page[i])
  local blocks, score = last - first + 1, tonumber(page[i + 1])
  if score == 0 then
    zero = zero + blocks
  elseif score <= now then
    past = past + blocks
    if score <= late then overdue = overdue + blocks end
  else
    later = later + blocks
    gap_blocks = gap_blocks + count_gaps(first, last, generation)
  end
  if lowest == 0 or generation < lowest then lowest = generation end
  if generation > highest then highest = generation end
end
return {#page / 2, rank + #page / 2, page[#page - 1] or '', zero, past, later,
  lowest, highest, overdue, gap_blocks}
