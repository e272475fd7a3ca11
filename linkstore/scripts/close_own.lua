-- uses: lib_time lib_marker; flags: allow-oom
-- Promise 5.  A holder closes a block from which it has issued no code, opened
-- or not; so the class of the closed marker is -.  An open of this generation
-- that is still under way then fails.
-- KEYS marker    ARGV generation holder
local generation, now = tonumber(ARGV[1]), now_ms()
local m = read_marker(KEYS[1])
if m and m.generation == generation and m.holder ~= ARGV[2] then
  return {0, m.generation, m.open and 1 or 0}
end
if m and (m.generation > generation or
    (m.open and m.generation ~= generation)) then
  return {0, m.generation, m.open and 1 or 0}
end
write_marker(KEYS[1], {
  generation = generation, open = false, class = '-', opened = now,
  ends = now, holder = ARGV[2],
})
return {1}
