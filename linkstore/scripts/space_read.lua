-- The space record and its cursor, in one look.
-- KEYS space cursor
return {redis.call('GET', KEYS[2]), redis.call('HGETALL', KEYS[1])}
