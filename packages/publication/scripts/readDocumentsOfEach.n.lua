-- Reads documents and other fields of several events, which are on one node (not for Redis Cluster), those of each event of
-- one revision.
-- KEYS     the hash of each event
-- ARGV     for each event: how many names follow, and those of its documents and fields
-- returns  for each event its texts, false for a missing one; in their place the message of the error of a hash that cannot
--          be read, which leaves the others alone

-- Texts of fields of the hash at a place among the keys. Lua's stack does not take all of them at once.
local function readTexts(place, names)
  local texts = {}
  for from = 1, #names, 1000 do
    local some = redis.call('HMGET', KEYS[place], unpack(names, from, math.min(from + 999, #names)))
    for i = 1, #some do
      texts[from + i - 1] = some[i]
    end
  end
  return texts
end

local replies = {}
local at = 1
for i = 1, #KEYS do
  local names = {}
  for j = 1, tonumber(ARGV[at]) do
    names[j] = ARGV[at + j]
  end
  local isRead, result = pcall(readTexts, i, names)
  if not isRead then
    result = type(result) == 'table' and result.err or result
  end
  replies[i] = result
  at = at + 1 + #names
end
return replies
