-- uses: lib_time lib_record
-- Reads a link and its block's marker at the same moment.
-- KEYS marker link
-- Replies {PEXPIRETIME, first nine bytes of the record, marker or '', now,
-- 1 if the link is blocked}.
local head = redis.call('GETRANGE', KEYS[2], 0, 8)
local blocked = false
if string.byte(head) == 0x09 then
  -- If the record is damaged, `state` is the error.
  local _, state = pcall(record_state, redis.call('GET', KEYS[2]))
  blocked = state == BLOCKED
end
return {redis.call('PEXPIRETIME', KEYS[2]), head,
  redis.call('GET', KEYS[1]) or '', now_ms(), blocked and 1 or 0}
