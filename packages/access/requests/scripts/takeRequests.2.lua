-- Takes requests from an organization's window of the rate limit; window.lua is prepended, it defines `take`.
-- KEYS[1]  the window: requests used, expires with the window
-- KEYS[2]  the hash of the organization; its field `status` chooses the limit
-- ARGV[1]  length of the window in milliseconds
-- ARGV[2]  the number of requests to take, at least 1
-- ARGV[3+] status, limit, ...
-- returns  a list of what `take` returns; null if Redis does not have the status
local taken = { take(1, tonumber(ARGV[1]), tonumber(ARGV[2]), limitsFrom(3, #ARGV)) }
return taken[1] and taken or false
