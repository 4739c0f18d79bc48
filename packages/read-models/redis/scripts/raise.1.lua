-- Raises numbers of a hash; one that is as high already stays.
-- KEYS[1]  the hash of one shard
-- ARGV     field, number, ...
-- returns  how many were raised
local raised = 0
for i = 1, #ARGV, 2 do
  local current = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '-1')
  if current < tonumber(ARGV[i + 1]) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    raised = raised + 1
  end
end
return raised
