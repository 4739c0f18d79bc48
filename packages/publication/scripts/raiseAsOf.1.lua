-- Raises watermarks of a shard, each only if the same hash says that everything it claims was published. Removes those
-- that are later than the clock, which has gone back.
-- KEYS[1]  the hash of one shard
-- ARGV[1]  the epoch in which Postgres returned the watermarks
-- ARGV[2]  the database's clock, epoch milliseconds
-- ARGV[3+] field, epoch milliseconds (-1: not known), field of its published revision, the revision that Postgres returned with it, ...
-- returns  the epoch of the hash afterwards
local epoch = enter(ARGV[1])
if epoch ~= tonumber(ARGV[1]) then
  return epoch
end
for i = 3, #ARGV, 4 do
  local current = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '-1')
  if current > tonumber(ARGV[2]) then
    redis.call('HDEL', KEYS[1], ARGV[i])
    current = -1
  end
  local published = tonumber(redis.call('HGET', KEYS[1], ARGV[i + 2]) or '0')
  if published >= tonumber(ARGV[i + 3]) and current < tonumber(ARGV[i + 1]) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
return epoch
