-- uses: lib_time lib_marker lib_record; flags: allow-oom
-- Promise 6.  A visit renews a link: first the marker's end, then the link's,
-- and neither is ever lowered.  The link gets the same end as computed for the
-- marker, since the clock goes on while a script runs.  Only the same link that
-- was visited is renewed, in the version that had its life, and only in a block
-- that is open under its generation.  If the marker is lost, the link is
-- renewed all the same: its block is not pooled before it is repaired.  A link
-- without a block has no marker.
-- KEYS link visits marker|trace|nothing
-- ARGV record-head version generation ttl renew-below [quarantine, for a trace]
-- Replies the link's remaining time, and its new end; 0: it was not raised.
local left = redis.call('PTTL', KEYS[1])
local record = redis.call('GETRANGE', KEYS[1], 0, 20)
if not is_link(record, ARGV[1]) then return {0, 0} end
if left == -1 then return {-1, 0} end
if left >= tonumber(ARGV[5]) or record_version(record) ~= tonumber(ARGV[2]) then
  return {left, 0}
end
local quarantine = tonumber(ARGV[6] or nil)
local m = not quarantine and KEYS[3] and read_marker(KEYS[3])
if m and (not m.open or m.generation ~= tonumber(ARGV[3])) then
  return {0, 0}
end
local expires = now_ms() + tonumber(ARGV[4])
if m and m.ends < expires then
  m.ends = expires
  write_marker(KEYS[3], m)
end
local raised = redis.call('PEXPIREAT', KEYS[1], time_text(expires), 'GT')
visits_follow(KEYS[2], redis.call('PEXPIRETIME', KEYS[1]))
if quarantine then trace_follow(KEYS[3], ARGV[1], KEYS[1], quarantine) end
if raised == 0 then return {left, 0} end
return {tonumber(ARGV[4]), expires}
