-- Says that a copy of every API key is there, unless Redis has lost its data since the copying began.
-- KEYS[1]  the name of what Redis holds, made anew after each loss
-- KEYS[2]  when all copies were written
-- KEYS[3]  the latest round that was finished
-- ARGV[1]  that name when the copying began
-- ARGV[2]  now, in epoch milliseconds
-- ARGV[3]  seconds until it is forgotten
-- ARGV[4]  the round
-- returns  `marked`; `lost`: copies that were written are gone
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 'lost'
end
local round = math.max(tonumber(redis.call('GET', KEYS[3]) or 0), tonumber(ARGV[4]))
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
redis.call('SET', KEYS[3], round, 'EX', ARGV[3])
return 'marked'
