-- uses: nothing
-- Reads links, for many look-ups of one loop turn.  The marker of a link that is
-- there is not needed.
-- KEYS for each link: link marker (a link without a block: link link)
-- Replies for each link its record or nil, PTTL, and its marker or nil.
local links, reply = {}, {}
for i = 1, #KEYS / 2 do links[i] = KEYS[2 * i - 1] end
local records = redis.call('MGET', unpack(links))
for i, link in ipairs(links) do
  reply[3 * i - 2] = records[i]
  if records[i] then
    reply[3 * i - 1], reply[3 * i] = redis.call('PTTL', link), false
  else
    reply[3 * i - 1] = -2
    reply[3 * i] = redis.call('MGET', KEYS[2 * i])[1]
  end
end
return reply
