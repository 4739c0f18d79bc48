-- Takes requests from an organization's window of the rate limit (docs/api.md, Rate limit): a fixed window that
-- starts with the first request after the last one ended; a refused request costs nothing.
-- KEYS[1]  the window: requests used, expires with the window
-- KEYS[2]  the hash of the organization; its field `status` chooses the limit
-- ARGV[1]  length of the window in milliseconds
-- ARGV[2]  the number of requests to take, at least 1
-- ARGV[3+] status, limit, ...
-- returns  {granted, limit, remaining after those, milliseconds until the window ends}; false: Redis does not have the status
local status = redis.call('HGET', KEYS[2], 'status')
if not status then
  return false
end
local limit = 0
for i = 3, #ARGV, 2 do
  if ARGV[i] == status then
    limit = tonumber(ARGV[i + 1])
  end
end
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local left = redis.call('PTTL', KEYS[1])
if used == 0 or left <= 0 then
  used = 0
  left = tonumber(ARGV[1])
end
local granted = math.max(0, math.min(tonumber(ARGV[2]), limit - used))
if granted > 0 then
  if used == 0 then
    redis.call('SET', KEYS[1], granted, 'PX', ARGV[1])
  else
    redis.call('INCRBY', KEYS[1], granted)
  end
end
return { granted, limit, math.max(0, limit - used - granted), left }
