-- uses: lib_time lib_marker lib_record
-- Promise 7.  Replaces records by their next versions, each only while the same
-- link and version are there that the caller read.  So an edit or a deletion
-- never meets a new owner or undoes another edit.  The marker's end is raised
-- before the link's, and never lowered.  A tombstone stays until its block
-- ends; until then its link may be restored, with a life as a new TTL has it.
-- A blocked link does not end, and its marker counts it (lib_marker.lua): a
-- moderator's decision is not lost when a TTL is over.
-- The edits of one call are independent: one that is refused, or that finds
-- damaged data, leaves the others as they are.  Edits of one link are made in
-- their order.  All of them are judged before the first is written.
-- KEYS for each link: link visits, and its marker or trace unless it is alone
-- ARGV for each link:
--      version generation record keep|life|tombstone ttl|never (for life, and
--      for the tombstone of a link without a block) marker|alone|quarantine
--      (for a trace)
-- For a blocked link that is let go, `life` is its remaining time from now on.
-- Replies two values for each link: {1, expires}, {0, 0}: the link is gone or
-- the code has another owner, {-1, 0}: another version, {error, 0}.
local ARGS = 6 -- of a link
local now = now_ms()
local edits, links = {}, {}
-- The last record of each link and the state of each marker, as the edits so
-- far leave them.
local records, markers = {}, {}

do
  local key = 1
  for i = 1, #ARGV / ARGS do
    local a = ARGS * (i - 1)
    local alone = ARGV[a + 6] == 'alone'
    edits[i] = {
      link = KEYS[key], visits = KEYS[key + 1],
      beside = not alone and KEYS[key + 2] or nil,
      quarantine = tonumber(ARGV[a + 6]),
      record = ARGV[a + 3], what = ARGV[a + 4],
    }
    links[i], key = KEYS[key], key + (alone and 2 or 3)
  end
end
local found = redis.call('MGET', unpack(links))

-- Returns the marker of an edit's block; nil: it has none, or it is lost.
local function marker_of(e)
  local key = not e.quarantine and e.beside
  if not key then return nil end
  if markers[key] == nil then markers[key] = read_marker(key) or false end
  return markers[key] or nil
end

-- Redis refuses other times, which must not end a script that has written.
local function need_time(ms)
  if not (ms > 0 and (ms < 2^63 or ms == math.huge)) then
    error({err = 'DAMAGED a link would end at ' .. tostring(ms)})
  end
  return ms
end

-- Makes the block last at least until `ends`, and count its blocked link.
local function raise_marker(m, ends, was_blocked, is_blocked)
  if not m or (m.ends >= ends and was_blocked == is_blocked) then return end
  m.ends = math.max(m.ends, ends)
  m.blocked = math.max(m.blocked + (is_blocked and 1 or 0)
    - (was_blocked and 1 or 0), 0)
  m.changed = true
end

-- Returns 1, 0 or -1, as the script replies, and, if the edit is to be written,
-- `keep`, or `until` with the time in e.ends, or `marker`: its marker's end.
local function judge(e, i)
  local there, a = records[e.link] or found[i], ARGS * (i - 1)
  -- MGET has no answer for a key of another type either.
  if not there then redis.call('STRLEN', e.link) end
  if not is_link(there, string.sub(e.record, 1, 9)) then return 0 end
  local version, rest = record_version(there)
  if version ~= tonumber(ARGV[a + 1]) then
    -- Is this the caller's earlier try, whose answer was lost?
    return there == e.record and 1 or -1
  end
  local m, quarantine = marker_of(e), e.quarantine
  if m and (not m.open or m.generation ~= tonumber(ARGV[a + 2])) then
    return 0
  end
  local was, is = record_state(there, rest), record_state(e.record)
  local was_blocked, is_blocked = was == BLOCKED, is == BLOCKED
  local life, deletes = e.what == 'life', e.what == 'tombstone'
  if was_blocked and not (is_blocked or life or deletes) then
    error('a link that is let go needs a life')
  end
  if was == DELETED and not (is_blocked or life) and is ~= DELETED then
    error('a link that is restored needs a life')
  end
  if is_blocked then
    e.ends = math.huge
    raise_marker(m, 0, was_blocked, is_blocked)
    return 1, 'until'
  elseif life then
    e.ends = need_time(now + time_value(ARGV[a + 5]))
    raise_marker(m, e.ends, was_blocked, is_blocked)
    return 1, 'until'
  elseif deletes and (m or quarantine or not e.beside or was_blocked) then
    e.ends = need_time(m and m.ends or now + time_value(ARGV[a + 5]))
    -- A block that lived only for this link may be over.
    raise_marker(m, was_blocked and now + 1000 or 0, was_blocked, is_blocked)
    return 1, m and 'marker' or 'until'
  end
  return 1, 'keep'
end

-- Writes an edit; its marker is written already.
local function write(e)
  if e.how == 'keep' then
    redis.call('SET', e.link, e.record, 'KEEPTTL')
    return
  end
  if e.how == 'marker' then e.ends = marker_of(e).ends end
  if e.ends == math.huge then
    redis.call('SET', e.link, e.record)
  else
    redis.call('SET', e.link, e.record, 'PXAT', time_text(e.ends))
  end
  -- The count of visits stays, since a redirector may not know of the deletion
  -- yet.
  visits_follow(e.visits, time_reply(e.ends))
end

-- A blocked link does not end and a tombstone lasts for the quarantine itself,
-- so neither has a trace.
local function write_trace(e)
  if e.what == 'life' and e.ends ~= math.huge then
    trace_follow(e.beside, string.sub(e.record, 1, 9), e.link, e.quarantine)
  else
    redis.call('DEL', e.beside)
  end
end

-- Publishes the codes for caches of links (linkstore/link/invalidation.h).  A
-- client without permission to publish may still change links.
local function publish(codes)
  local told = redis.pcall('PUBLISH', 'link-changes', table.concat(codes, ' '))
  if type(told) == 'table' then
    redis.log(redis.LOG_WARNING,
      'nobody is told of changed links: ' .. told.err)
  end
end

-- pcall has the text of an error that is a table.
local function error_of(failure)
  local text = type(failure) == 'table' and failure.err or failure
  return {err = string.find(text, '^%u+ ') and text or 'ERR ' .. text}
end

local reply, codes = {}, {}
for i, e in ipairs(edits) do
  local fine, result, how = pcall(judge, e, i)
  if not fine then result = error_of(result) end
  reply[2 * i - 1], e.how = result, how
  if how then records[e.link] = e.record end
end
for key, m in pairs(markers) do
  if m and m.changed then write_marker(key, m) end
end
for i, e in ipairs(edits) do
  if e.how then
    write(e)
    if e.quarantine and e.how ~= 'keep' then write_trace(e) end
    codes[#codes + 1] = string.match(e.link, '([%w_-]+)}?$')
  end
  if reply[2 * i - 1] ~= 1 then
    reply[2 * i] = 0
  elseif e.ends then
    reply[2 * i] = time_reply(e.ends)
  else
    reply[2 * i] = redis.call('PEXPIRETIME', e.link) -- -1: it never ends
  end
end
if #codes > 0 then publish(codes) end
return reply
