-- uses: lib_time lib_marker
-- Promise 4.  Stores all links of one block in one loop turn.  The block must
-- be open and the caller's.  Its end is raised to that of the links.  A live
-- link is never overwritten.  If a link with the same link_id (the first nine
-- bytes of the record) is there, it is the caller's earlier try, and now ends
-- at the time that is replied.  A link whose deadline has passed is not stored:
-- its plan may have been replaced by now.  Links end at a point in time, not
-- after a duration: the clock goes on while a script runs, but the block's end
-- does not.
-- KEYS marker link...
-- ARGV generation holder ttl|never record... [deadline (0: none)...]
-- Replies expires (0: never), then for each link 1: stored, 2: was there,
-- 0: another link is there, -1: late.
local m = read_marker(KEYS[1])
if not m then return {-1} end
if not m.open or m.generation ~= tonumber(ARGV[1]) or m.holder ~= ARGV[2] then
  return {-2, m.generation, m.open and 1 or 0}
end
local ttl = time_value(ARGV[3])
local now = now_ms()
local expires = now + ttl
if expires > m.ends then
  m.ends = expires
  write_marker(KEYS[1], m)
end
local reply = {expires == math.huge and 0 or expires}
for i = 2, #KEYS do
  local record, set, late = ARGV[i + 2], nil, nil
  local deadline = tonumber(ARGV[i + 1 + #KEYS] or 0)
  if deadline > 0 and now > deadline then
    late = true
  elseif ttl == math.huge then
    set = redis.call('SET', KEYS[i], record, 'NX')
  else
    set = redis.call('SET', KEYS[i], record, 'NX', 'PXAT', time_text(expires))
  end
  if set then
    reply[i] = 1
  elseif late then
    reply[i] = -1
  -- A key of another type counts as another link: pcall, since an earlier link
  -- may be stored already.
  elseif redis.pcall('GETRANGE', KEYS[i], 0, 8) == string.sub(record, 1, 9) then
    reply[i] = 2
    if ttl ~= math.huge then
      redis.call('PEXPIREAT', KEYS[i], time_text(expires), 'GT')
    end
  else
    reply[i] = 0
  end
end
return reply
