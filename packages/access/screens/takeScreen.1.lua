-- Takes a place of a live screen, or holds on to it. The time is that of Redis: the clocks of the processes may differ.
-- KEYS[1]  the places of an owner: a sorted set, scored by when each ends in epoch milliseconds
-- ARGV[1]  the place
-- ARGV[2]  how many places there are
-- ARGV[3]  milliseconds that the place is held
-- returns  1 if the place is taken or was already; 0 if there is none
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now)
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  return 0
end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
