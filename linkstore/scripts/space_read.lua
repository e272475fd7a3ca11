-- uses: lib_time
-- Reads the space record and its cursor at the same moment, and this Redis'
-- clock.
-- KEYS space cursor
return {redis.call('GET', KEYS[2]), redis.call('HGETALL', KEYS[1]),
  now_ms()}
