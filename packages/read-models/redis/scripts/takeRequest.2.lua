-- Takes one request from an organization's window of the rate limit (decisions.md, Rate limit): a fixed window
-- that starts with the first request after the last one ended; a refused request costs nothing.
-- KEYS[1]  the window: requests used, expires with the window
-- KEYS[2]  the hash of the organization; its field `status` chooses the limit
-- ARGV[1]  length of the window in milliseconds
-- ARGV[2+] status, limit, ...
-- returns  {1 granted or 0 refused, limit, remaining, milliseconds until the window ends}; false: the status is not here
local status = redis.call('HGET', KEYS[2], 'status')
if not status then
  return false
end
local limit = 0
for i = 2, #ARGV, 2 do
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
if used >= limit then
  return { 0, limit, 0, left }
end
if used == 0 then
  redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
else
  redis.call('INCR', KEYS[1])
end
return { 1, limit, limit - used - 1, left }
