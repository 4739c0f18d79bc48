-- Reads hashes of shards and, after each, those of its events, which are on one node (not for Redis Cluster): one command for
-- what a request batch asks, in place of one for each hash.
-- KEYS     the hash of a shard, the hashes of its events, the hash of the next shard, ...
-- ARGV[1]  how many fields follow
-- then     these fields of a shard's hash
-- then     for each shard: how many events follow, and for each of them the field of its revision in the shard's hash
-- returns  a line for each hash, because a client decodes one text far faster than as many arrays; of a shard: its fields, then the
--          revisions of its events; then for each of its events: revision, epoch. All are numbers, separated by spaces, `-` for one
--          that is missing. In place of a line, the message of the error of a hash that cannot be read
local function lineOf(reply)
  if reply.err then
    return reply.err
  end
  for i = 1, #reply do
    reply[i] = reply[i] or '-'
  end
  return table.concat(reply, ' ')
end

local shared = tonumber(ARGV[1])
local lines = {}
local key = 1
local at = 2 + shared
while key <= #KEYS do
  local events = tonumber(ARGV[at])
  local fields = {}
  for i = 1, shared do
    fields[i] = ARGV[1 + i]
  end
  for i = 1, events do
    fields[shared + i] = ARGV[at + i]
  end
  -- A few thousand fields fit on Lua's stack; a request batch asks for hundreds.
  lines[key] = lineOf(redis.pcall('HMGET', KEYS[key], unpack(fields)))
  for i = 1, events do
    lines[key + i] = lineOf(redis.pcall('HMGET', KEYS[key + i], 'revision', 'epoch'))
  end
  key = key + 1 + events
  at = at + 1 + events
end
return table.concat(lines, '\n')
