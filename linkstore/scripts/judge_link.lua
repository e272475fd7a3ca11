-- A link and its block's marker at one moment.
-- KEYS marker link
-- Replies {PEXPIRETIME, first nine bytes of the record, marker or '', now}.
return {redis.call('PEXPIRETIME', KEYS[2]),
  redis.call('GETRANGE', KEYS[2], 0, 8), redis.call('GET', KEYS[1]) or '',
  now_ms()}
