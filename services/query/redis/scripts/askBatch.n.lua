-- What a request batch asks Redis for, where all keys are on one node (not for Redis Cluster): takes requests from the windows of
-- organizations, then reads hashes of shards and of their events. window.lua and versions.lua are prepended; they define `take`,
-- `limitsFrom` and `addVersions`.
-- KEYS     window and hash of each organization; then hashes as for `addVersions`
-- ARGV[1]  length of a window in milliseconds
-- ARGV[2]  how many arguments with limits follow: status, limit, ...
-- then     how many organizations there are, and the number of requests to take of each, at least 1
-- then     as for `addVersions`
-- returns  a line for each organization: what `take` returns, separated by spaces; `-` if Redis does not have the status; or the
--          message of its error: one that fails takes nothing and leaves the others alone, so that a Redis that refuses writes still
--          reads. Then the lines of `addVersions`
local limitsEnd = 2 + tonumber(ARGV[2])
local limits = limitsFrom(3, limitsEnd)
local organizations = tonumber(ARGV[limitsEnd + 1])
local lines = {}
for i = 1, organizations do
  local isTaken, result = pcall(take, i, tonumber(ARGV[1]), tonumber(ARGV[limitsEnd + 1 + i]), limits)
  if not isTaken then
    lines[i] = type(result) == 'table' and result.err or result
  else
    lines[i] = result and table.concat(result, ' ') or '-'
  end
end
-- What was taken is told even if the reads fail as a whole, with thousands of events of one shard.
local isRead, failure = pcall(addVersions, lines, 2 * organizations + 1, limitsEnd + 2 + organizations)
if not isRead then
  lines[#lines + 1] = type(failure) == 'table' and failure.err or failure
end
return table.concat(lines, '\n')
