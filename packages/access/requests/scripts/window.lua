-- Prepended to the scripts that take requests from windows of the rate limit (docs/api.md, Rate limit): a window is fixed, and
-- starts with the first request after the last one ended; a refused request costs nothing. For organization `i`, KEYS[2 * i - 1]
-- has the requests used and expires with the window; the field `status` of the hash KEYS[2 * i] chooses one of `limits`. Returns
-- granted, limit, remaining after those, milliseconds until the window ends; nil: Redis does not have the status.
--
-- The append-only file and the replicas get the start of a window and its count at each sixteenth of the limit. With every grant,
-- Redis wrote megabytes per second while devices polled, and kept rewriting its file (docs/decisions/0009-own-rate-limiter.md).
local function take(i, windowMs, count, limits)
  local status = redis.call('HGET', KEYS[2 * i], 'status')
  if not status then
    return nil
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
    local isNew = used == 0
    local isKept = isNew or math.floor(16 * (used + granted) / limit) > math.floor(16 * used / limit)
    redis.set_repl(isKept and redis.REPL_ALL or redis.REPL_NONE)
    if isNew then
      redis.call('SET', KEYS[2 * i - 1], granted, 'PX', windowMs)
    else
      redis.call('SET', KEYS[2 * i - 1], used + granted, 'KEEPTTL')
    end
  end
  return granted, limit, math.max(0, limit - used - granted), left
end

-- The limits in ARGV from `first` to `last`: status, limit, ...
local function limitsFrom(first, last)
  local limits = {}
  for i = first, last, 2 do
    limits[ARGV[i]] = tonumber(ARGV[i + 1])
  end
  return limits
end
