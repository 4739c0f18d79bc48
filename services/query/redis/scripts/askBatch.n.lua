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
local windowMs = tonumber(ARGV[1])
local limitsEnd = 2 + tonumber(ARGV[2])
local limits = limitsFrom(3, limitsEnd)
local organizations = tonumber(ARGV[limitsEnd + 1])
local lines = {}
for i = 1, organizations do
  local count = tonumber(ARGV[limitsEnd + 1 + i])
  -- In place of what was granted, `take` may have thrown an error.
  local isTaken, granted, limit, remaining, left = pcall(take, i, windowMs, count, limits)
  if not isTaken then
    lines[i] = type(granted) == 'table' and granted.err or granted
  elseif granted then
    -- `table.concat` would format each number as a double, which is slower, and wrong from 1e14 on.
    lines[i] = string.format('%d %d %d %d', granted, limit, remaining, left)
  else
    lines[i] = '-'
  end
end
-- What was taken is returned even if the reads fail as a whole, with thousands of events of one shard.
local isRead, failure = pcall(addVersions, lines, 2 * organizations + 1, limitsEnd + 2 + organizations)
if not isRead then
  lines[#lines + 1] = type(failure) == 'table' and failure.err or failure
end
return table.concat(lines, '\n')
