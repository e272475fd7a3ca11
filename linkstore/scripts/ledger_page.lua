-- uses: lib_range
-- Reads one page of the issued or the pool set: the number of blocks with score
-- 0, with a score up to now, and with a later one.  It continues behind the
-- last member of the page before, wherever that is by now, or, if that is gone,
-- from its rank.
-- KEYS set    ARGV now max rank last-member (or empty) overdue
local now, rank = tonumber(ARGV[1]), tonumber(ARGV[3])
local late, overdue = tonumber(ARGV[5]), 0
local at = redis.call('ZRANK', KEYS[1], ARGV[4])
if at then rank = at + 1 end
local page = redis.call('ZRANGE', KEYS[1], rank, rank + tonumber(ARGV[2]) - 1,
  'WITHSCORES')
local zero, past, later, lowest, highest = 0, 0, 0, 0, 0
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
  end
  if lowest == 0 or generation < lowest then lowest = generation end
  if generation > highest then highest = generation end
end
return {#page / 2, rank + #page / 2, page[#page - 1] or '', zero, past, later,
  lowest, highest, overdue}
