-- Reads documents and other fields of several events, which are on one node (not for Redis Cluster), each as
-- readDocuments.1.lua does. documents.lua is prepended; it defines `readTexts`.
-- KEYS     the hash of each event
-- ARGV     for each event: how many names follow, and those of its documents and fields
-- returns  for each event its texts; in their place the message of the error of a hash that cannot be read, which leaves the
--          others alone
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
