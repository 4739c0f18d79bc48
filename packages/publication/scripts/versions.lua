-- Prepended to the scripts that read versions: hashes of shards and, after each, those of its events, which are on one node (not for
-- Redis Cluster). Adds a line for each hash, because a client decodes one text far faster than as many arrays; of a shard: its
-- fields, then the revisions of its events; then for each of its events: revision, epoch. All are numbers, separated by spaces, `-`
-- for one that is missing. In place of a line, the message of the error of a hash that cannot be read.
-- KEYS[key+]  the hash of a shard, the hashes of its events, the hash of the next shard, ...
-- ARGV[at]    how many fields of a shard's hash follow, and these fields; then for each shard: how many events follow, and for each
--             of them the field of its revision in the shard's hash
local function lineOf(reply)
  if reply.err then
    return reply.err
  end
  for i = 1, #reply do
    reply[i] = reply[i] or '-'
  end
  return table.concat(reply, ' ')
end

local function addVersions(lines, key, at)
  local shared = tonumber(ARGV[at])
  local fields = { unpack(ARGV, at + 1, at + shared) }
  at = at + 1 + shared
  while key <= #KEYS do
    local events = tonumber(ARGV[at])
    for i = 1, events do
      fields[shared + i] = ARGV[at + i]
    end
    -- A few thousand fields fit on Lua's stack; a request batch asks for hundreds.
    lines[#lines + 1] = lineOf(redis.pcall('HMGET', KEYS[key], unpack(fields, 1, shared + events)))
    for i = 1, events do
      lines[#lines + 1] = lineOf(redis.pcall('HMGET', KEYS[key + i], 'revision', 'epoch'))
    end
    key = key + 1 + events
    at = at + 1 + events
  end
end
