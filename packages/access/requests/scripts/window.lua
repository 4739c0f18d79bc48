-- Prepended to the scripts that take requests from windows of the rate limit (docs/api.md, Rate limit): a window is fixed, and
-- starts with the first request after the last one ended; a refused request costs nothing. For organization `i`, KEYS[2 * i - 1]
-- has the requests used and expires with the window; the field `status` of the hash KEYS[2 * i] chooses one of `limits`. Returns
-- {granted, limit, remaining after those, milliseconds until the window ends}; false: Redis does not have the status.
local function take(i, windowMs, count, limits)
  local status = redis.call('HGET', KEYS[2 * i], 'status')
  if not status then
    return false
  end
  local limit = limits[status] or 0
  local used = tonumber(redis.call('GET', KEYS[2 * i - 1]) or '0')
  local left = redis.call('PTTL', KEYS[2 * i - 1])
  if used == 0 or left <= 0 then
    used = 0
    left = windowMs
  end
  local granted = math.max(0, math.min(count, limit - used))
  if granted > 0 then
    if used == 0 then
      redis.call('SET', KEYS[2 * i - 1], granted, 'PX', windowMs)
    else
      redis.call('INCRBY', KEYS[2 * i - 1], granted)
    end
  end
  return { granted, limit, math.max(0, limit - used - granted), left }
end

-- The limits in ARGV from `first` to `last`: status, limit, ...
local function limitsFrom(first, last)
  local limits = {}
  for i = first, last, 2 do
    limits[ARGV[i]] = tonumber(ARGV[i + 1])
  end
  return limits
end
