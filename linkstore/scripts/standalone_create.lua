-- uses: lib_time lib_record
-- Stores a link that belongs to no block and has its slot to itself; a live
-- link is never overwritten.  If the same record is there, or a later version
-- of the link with its link_id (the first nine bytes of the record), it is the
-- caller's earlier try.  Another record is returned, so that the caller sees
-- whether it is the same URL of the same owner.  A chosen code is refused while
-- its former link has a trace: that link ended less than a quarantine ago.
-- KEYS link [trace]    ARGV record ttl|never deadline (0: none) [quarantine]
-- Replies {1, expires}, {0, record, PTTL}, {-1}: the deadline has passed, or
-- {-2, ms until the code is free}.
local now, deadline = now_ms(), tonumber(ARGV[3])
if deadline > 0 and now > deadline then return {-1} end
local head, trace = string.sub(ARGV[1], 1, 9), KEYS[2]
local there = redis.call('GET', KEYS[1])
if not there and trace then
  local former = redis.call('GET', trace)
  if former and former ~= head then return {-2, redis.call('PTTL', trace)} end
end
if not there then
  if ARGV[2] == 'never' then
    redis.call('SET', KEYS[1], ARGV[1])
  else
    redis.call('SET', KEYS[1], ARGV[1], 'PXAT',
      time_text(now + time_value(ARGV[2])))
  end
  if trace then trace_follow(trace, head, KEYS[1], tonumber(ARGV[4])) end
  return {1, time_reply(now + time_value(ARGV[2]))}
end
-- A repeated try sends the same bytes.  A first version with other bytes means
-- that the link_id was made twice.
if there == ARGV[1] or (is_link(there, head) and
    record_version(there) > record_version(ARGV[1])) then
  return {1, redis.call('PEXPIRETIME', KEYS[1])}
end
return {0, there, redis.call('PTTL', KEYS[1])}
