-- Marks the copies of all API keys as complete, unless Redis has lost its data since the copying began.
-- KEYS[1]  the name of the copies that Redis holds; a loss of data removes it
-- KEYS[2]  when all copies were written
-- KEYS[3]  the latest round that was finished
-- ARGV[1]  that name when the copying began
-- ARGV[2]  now, in epoch milliseconds
-- ARGV[3]  seconds until this mark expires
-- ARGV[4]  the round
-- returns  `marked`; `lost`: Redis has lost copies that were written
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 'lost'
end
local round = math.max(tonumber(redis.call('GET', KEYS[3]) or 0), tonumber(ARGV[4]))
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
redis.call('SET', KEYS[3], round, 'EX', ARGV[3])
return 'marked'
