-- uses: lib_time lib_marker; flags: allow-oom
-- Closes a block that has no link left and whose marker is lost, or still the
-- closed one of a former generation.  It gets a closed marker of its
-- generation, so that an open of that generation that is still under way fails.
-- Its class is -: whether codes were issued under that generation is not known.
-- A block that has a marker again is left alone.
-- KEYS marker    ARGV generation
local before = read_marker(KEYS[1])
if before and (before.open or before.generation >= tonumber(ARGV[1])) then
  return 0
end
local now = now_ms()
write_marker(KEYS[1], {
  generation = tonumber(ARGV[1]), open = false, class = '-', opened = now,
  ends = now, holder = 'verify',
})
return 1
