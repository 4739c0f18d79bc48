-- Says that a copy of every API key is there, unless Redis has lost its data since the copying began.
-- KEYS[1]  the name of what Redis holds, made anew after each loss
-- KEYS[2]  when all copies were written
-- ARGV[1]  that name when the copying began
-- ARGV[2]  now, in epoch milliseconds
-- ARGV[3]  seconds until it is forgotten
-- returns  `marked`; `lost`: copies that were written are gone
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 'lost'
end
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
return 'marked'
