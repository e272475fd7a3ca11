-- Promise 8, in the block's slot.  Closes a block that has ended, whatever was
-- read of it before.  A closed marker of a lower generation belongs to a block
-- whose holder never opened it: it takes the granted generation, so that a
-- late open fails.  Replies state (0 lost, 1 closed, 2 live), end, generation.
-- KEYS marker    ARGV generation
local m = read_marker(KEYS[1])
if not m then return {0, 0, 0} end
if m.open and m.ends > now_ms() then
  return {2, time_reply(m.ends), m.generation}
end
local generation = math.max(m.generation, tonumber(ARGV[1]))
if m.open or generation > m.generation then
  m.open, m.generation = false, generation
  write_marker(KEYS[1], m)
end
return {1, 0, generation}
