-- Notes what was published through a shard: each event's revision, and the mark up to which nothing is left out.
-- KEYS[1]  the hash of one shard
-- ARGV[1]  the epoch in which the documents were composed
-- ARGV[2]  the mark's field, or an empty text: events alone were published
-- ARGV[3]  the revision from which on everything was published: a mark that lies below it stays, for heal to see
-- ARGV[4]  the revision up to which it was
-- ARGV[5+] field of an event, its revision, ...
-- returns  the epoch that the hash is in: nothing is noted unless it is that of ARGV[1]
local epoch = enter(KEYS[1], ARGV[1])
if epoch ~= tonumber(ARGV[1]) then
  return epoch
end
for i = 5, #ARGV, 2 do
  local known = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
  if known < tonumber(ARGV[i + 1]) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
if ARGV[2] ~= '' then
  local current = tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or '0')
  if current >= tonumber(ARGV[3]) and current < tonumber(ARGV[4]) then
    redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
  end
end
return epoch
