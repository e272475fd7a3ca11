-- uses: lib_time lib_marker lib_record
-- Promise 7.  Replaces a record by its next version, only while the same link
-- and version are there that the caller read.  So an edit or a deletion never
-- meets a new owner or undoes another edit.  The marker's end is raised before
-- the link's, and never lowered.  A tombstone stays until its block ends; until
-- then its link may be restored, with a life as a new TTL has it.  A blocked
-- link does not end, and its marker counts it (lib_marker.lua): a moderator's
-- decision is not lost when a TTL is over.
-- KEYS link visits marker|trace|nothing
-- ARGV record-head version generation record keep|life|tombstone ttl|never
--      (for life, and for the tombstone of a link without a block)
--      [quarantine, for a trace]
-- For a blocked link that is let go, `life` is its remaining time from now on.
-- Replies {1, expires}, {0}: the link is gone or the code has another owner,
-- {-1}: another version.
local there, now = redis.call('GET', KEYS[1]), now_ms()
if not is_link(there, ARGV[1]) then return {0} end

-- Returns -1 if the link never ends.
local function expires_now()
  return redis.call('PEXPIRETIME', KEYS[1])
end

if record_version(there) ~= tonumber(ARGV[2]) then
  -- Is this the caller's earlier try, whose answer was lost?
  if there == ARGV[4] then return {1, expires_now()} end
  return {-1}
end
local quarantine = tonumber(ARGV[7] or nil)
local m = not quarantine and KEYS[3] and read_marker(KEYS[3])
if m and (not m.open or m.generation ~= tonumber(ARGV[3])) then return {0} end
local was_blocked = record_state(there) == BLOCKED
local is_blocked = record_state(ARGV[4]) == BLOCKED
local life, deletes = ARGV[5] == 'life', ARGV[5] == 'tombstone'
if was_blocked and not (is_blocked or life or deletes) then
  error('a link that is let go needs a life')
end
if record_state(there) == DELETED and not (is_blocked or life)
  and record_state(ARGV[4]) ~= DELETED then
  error('a link that is restored needs a life')
end

-- Makes the block last at least until `expires`, and count its blocked link.
local function raise_marker(expires)
  if not m or (m.ends >= expires and was_blocked == is_blocked) then return end
  m.ends = math.max(m.ends, expires)
  m.blocked = math.max(m.blocked + (is_blocked and 1 or 0)
    - (was_blocked and 1 or 0), 0)
  write_marker(KEYS[3], m)
end

local function replace(expires)
  if expires == math.huge then
    redis.call('SET', KEYS[1], ARGV[4])
  else
    redis.call('SET', KEYS[1], ARGV[4], 'PXAT', time_text(expires))
  end
  -- The count of visits stays, since a redirector may not know of the deletion
  -- yet.
  visits_follow(KEYS[2], redis.call('PTTL', KEYS[1]))
end

if is_blocked then
  raise_marker(0)
  replace(math.huge)
  -- The link itself is there, so it needs no trace.
  if quarantine then redis.call('DEL', KEYS[3]) end
elseif life then
  local expires = now + time_value(ARGV[6])
  raise_marker(expires)
  replace(expires)
  if quarantine then trace_follow(KEYS[3], ARGV[1], KEYS[1], quarantine) end
elseif deletes and (m or quarantine or not KEYS[3] or was_blocked) then
  -- A block that lived only for this link may be over.
  raise_marker(was_blocked and now + 1000 or 0)
  replace(m and m.ends or now + time_value(ARGV[6]))
  -- The tombstone itself lasts for the quarantine.
  if quarantine then redis.call('DEL', KEYS[3]) end
else
  redis.call('SET', KEYS[1], ARGV[4], 'KEEPTTL')
end
-- Publishes the code for caches of links (linkstore/link/invalidation.h).  A
-- client without permission to publish may still change links.
local told = redis.pcall('PUBLISH', 'link-changes',
  string.match(KEYS[1], '([%w_-]+)}?$'))
if type(told) == 'table' then
  redis.log(redis.LOG_WARNING, 'nobody is told of a changed link: ' .. told.err)
end
return {1, expires_now()}
