-- Takes requests from the windows of several organizations, which are on one node (not for Redis Cluster), each as
-- takeRequests.2.lua does. window.lua is prepended; it defines `take`.
-- KEYS     window and hash of each organization
-- ARGV[1]  length of a window in milliseconds
-- ARGV[2+] the number of requests to take of each organization, at least 1
-- then     status, limit, ...
-- returns  a line for each organization, because a client decodes one text far faster than as many arrays: what `take` returns,
--          separated by spaces; `-` if Redis does not have the status; or the message of its error: one that fails takes nothing
--          and leaves the others alone
local organizations = #KEYS / 2
local limits = limitsFrom(2 + organizations)
local lines = {}
for i = 1, organizations do
  local isTaken, result = pcall(take, i, tonumber(ARGV[1]), tonumber(ARGV[1 + i]), limits)
  if not isTaken then
    lines[i] = type(result) == 'table' and result.err or result
  else
    lines[i] = result and table.concat(result, ' ') or '-'
  end
end
return table.concat(lines, '\n')
