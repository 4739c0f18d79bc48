-- Moves a shard to a new epoch, before the first documents of that epoch are published (see epoch.lua).
-- KEYS[1]  the hash of one shard
-- ARGV[1]  the epoch
-- returns  the epoch of the hash afterwards
return enter(ARGV[1])
