-- uses: lib_time lib_range lib_check lib_space
-- Reads which of these blocks ("block:generation") are marked as not opened
-- since they were granted: a score or nil for each.  Replies none while a loss
-- of data in Redis has not been handled: the openings may be lost.
-- KEYS space unopened    ARGV moves generation member...
local record = redis.call('HMGET', KEYS[1], 'run_id', 'moves', 'highest')
if record[1] ~= run_id() or
    tonumber(ARGV[1]) > (tonumber(record[2] or 0) or 0) or
    tonumber(ARGV[2]) > (tonumber(record[3] or 0) or 0) then
  return {}
end
local members = {}
for i = 3, #ARGV do members[i - 2] = ARGV[i] end
return redis.call('ZMSCORE', KEYS[2], unpack(members))
