-- Stores what was published through a shard, atomically: each event's revision and, for each topic, the published revision,
-- up to which everything is published (docs/architecture.md, When Postgres or Redis goes back). epoch.lua is prepended; it
-- defines `enter`.
-- KEYS[1]  the hash of one shard
-- ARGV[1]  the epoch in which the documents were composed
-- ARGV[2]  how many published revisions follow, three arguments each:
--          its field; the first revision and the last revision of what was published without a gap. A stored one below
--          the first stays: documents in between are missing, and the projector's heal publishes them
-- then     field of an event, its revision, ...: all events that these published revisions cover
-- returns  the epoch of the hash: nothing is stored unless it equals ARGV[1]
local epoch = enter(ARGV[1])
if epoch ~= tonumber(ARGV[1]) then
  return epoch
end
local marks = 2 + 3 * tonumber(ARGV[2])
for i = marks + 1, #ARGV, 2 do
  local known = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
  if known < tonumber(ARGV[i + 1]) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
for i = 3, marks, 3 do
  local current = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
  if current >= tonumber(ARGV[i + 1]) and current < tonumber(ARGV[i + 2]) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
  end
end
return epoch
