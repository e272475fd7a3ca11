-- uses: lib_time lib_marker
-- Promise 3.  Opens a block, once: its marker must be absent, or closed and of
-- a lower generation.  If the same holder asks again, it has missed the answer.
-- KEYS marker    ARGV generation holder class ttl|never hold
local generation, now = tonumber(ARGV[1]), now_ms()
local m = read_marker(KEYS[1])
if m and m.open and m.generation == generation and m.holder == ARGV[2] then
  return {1, time_reply(m.ends)}
end
if m and (m.open or m.generation >= generation) then
  return {0, m.generation, m.open and 1 or 0}
end
local ends = now + time_value(ARGV[5]) + time_value(ARGV[4])
write_marker(KEYS[1], {
  generation = generation, open = true, class = ARGV[3], opened = now,
  ends = ends, holder = ARGV[2],
})
return {1, time_reply(ends)}
