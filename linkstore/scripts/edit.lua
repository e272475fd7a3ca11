-- Promise 7.  Replaces a record by the next version of it: only while the very
-- link and version are there that the caller read, so that an edit or a deletion
-- never meets a new owner or undoes another edit.  A marker's end is raised
-- before the link's, never lowered.  A tombstone stays until its block ends.
-- KEYS link visits marker|trace|nothing
-- ARGV record-head version generation record keep|life|tombstone ttl|never
--      (of life; of the tombstone of a link without a block)
--      [quarantine, of a trace]
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

local function replace(expires)
  if expires == math.huge then
    redis.call('SET', KEYS[1], ARGV[4])
  else
    redis.call('SET', KEYS[1], ARGV[4], 'PXAT', time_text(expires))
  end
end

if ARGV[5] == 'life' then
  local expires = now + time_value(ARGV[6])
  if m and m.ends < expires then
    m.ends = expires
    write_marker(KEYS[3], m)
  end
  replace(expires)
  visits_follow(KEYS[2], redis.call('PTTL', KEYS[1]))
  if quarantine then trace_follow(KEYS[3], ARGV[1], KEYS[1], quarantine) end
elseif ARGV[5] == 'tombstone' and (m or quarantine or not KEYS[3]) then
  replace(m and m.ends or now + time_value(ARGV[6]))
  -- Used up stays used up, for who has not heard of the deletion, too.
  visits_follow(KEYS[2], redis.call('PTTL', KEYS[1]))
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
