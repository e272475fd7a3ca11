-- Promise 7.  Replaces a record by the next version of it: only while the very
-- link and version are there that the caller read, so that an edit or a deletion
-- never meets a new owner or undoes another edit.  A marker's end is raised
-- before the link's, never lowered.  A tombstone stays until its block ends.  A
-- blocked link does not end, and its marker counts it (lib_marker.lua): what a
-- moderator has decided is not forgotten because a time is over.
-- KEYS link visits marker|trace|nothing
-- ARGV record-head version generation record keep|life|tombstone ttl|never
--      (of life; of the tombstone of a link without a block)
--      [quarantine, of a trace]
-- Of a blocked link that is let go, life says what it has from now on.
-- Replies {1, expires}, {0} gone or another's, {-1} another version.
local there, now = redis.call('GET', KEYS[1]), now_ms()
if not is_link(there, ARGV[1]) then return {0} end

-- -1: it never ends.
local function expires_now()
  return redis.call('PEXPIRETIME', KEYS[1])
end

if record_version(there) ~= tonumber(ARGV[2]) then
  -- My own earlier try, whose answer was lost?
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

-- The block lasts at least so long, and knows of the block of its link.
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
  -- Used up stays used up, for who has not heard of a deletion, too.
  visits_follow(KEYS[2], redis.call('PTTL', KEYS[1]))
end

if is_blocked then
  raise_marker(0)
  replace(math.huge)
  -- It is there itself, and so needs no trace.
  if quarantine then redis.call('DEL', KEYS[3]) end
elseif life then
  local expires = now + time_value(ARGV[6])
  raise_marker(expires)
  replace(expires)
  if quarantine then trace_follow(KEYS[3], ARGV[1], KEYS[1], quarantine) end
elseif deletes and (m or quarantine or not KEYS[3] or was_blocked) then
  -- A block that was there for this link only may be over.
  raise_marker(was_blocked and now + 1000 or 0)
  replace(m and m.ends or now + time_value(ARGV[6]))
  -- The tombstone is there for the quarantine itself.
  if quarantine then redis.call('DEL', KEYS[3]) end
else
  redis.call('SET', KEYS[1], ARGV[4], 'KEEPTTL')
end
-- The code, for those who remember the link (linkstore/link/invalidation.h).  Who
-- may not publish may change links all the same.
local told = redis.pcall('PUBLISH', 'link-changes',
  string.match(KEYS[1], '([%w_-]+)}?$'))
if type(told) == 'table' then
  redis.log(redis.LOG_WARNING, 'nobody is told of a changed link: ' .. told.err)
end
return {1, expires_now()}
