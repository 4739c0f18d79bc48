-- Raises a mark that says up to which revision everything is published, where nothing is left out between.
-- KEYS[1]  the hash of one shard
-- ARGV[1]  the mark's field
-- ARGV[2]  the revision from which on everything was published: a mark that lies below it stays, for heal to see
-- ARGV[3]  the revision up to which it was
-- returns  1 raised or as high already, 0 left below
local current = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
if current < tonumber(ARGV[2]) then
  return 0
end
if current < tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
return 1
