-- Takes a shard over into a new epoch, before the first documents of that epoch are published.
-- KEYS[1]  the hash of one shard
-- ARGV[1]  the epoch
-- returns  the epoch that the hash is in now
return enter(KEYS[1], ARGV[1])
