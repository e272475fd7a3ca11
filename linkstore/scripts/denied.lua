-- uses: nothing
-- Reads what has changed of the denied hosts since a revision, in the order of
-- revisions.
-- KEYS hosts changes    ARGV revision, number of changes at most
-- Replies the last revision, the number of denied hosts, and for each change
-- its host, its revision and its value, '' if the denial was lifted.
local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
local reply = {last[2] or '0', redis.call('HLEN', KEYS[1])}
local changes = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf',
  'WITHSCORES', 'LIMIT', 0, ARGV[2])
for i = 1, #changes, 2 do
  reply[#reply + 1] = changes[i]
  reply[#reply + 1] = changes[i + 1]
  reply[#reply + 1] = redis.call('HGET', KEYS[1], changes[i]) or ''
end
return reply
