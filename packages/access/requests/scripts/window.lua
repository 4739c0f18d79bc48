-- Prepended to the scripts that take requests from windows of the rate limit (docs/api.md, Rate limit): a window is fixed, and
-- starts with the first request after the last one ended; a refused request costs nothing. For organization `i`, KEYS[2 * i - 1]
-- has the requests used and expires with the window; the field `status` of the hash KEYS[2 * i] chooses one of `limits`. Returns
-- granted, limit, remaining after those, milliseconds until the window ends; nil: Redis does not have the status.
--
-- Requests are added before anything else is looked at, because each command costs several times what Lua does. Replicas get every
-- change, the append-only file only the beginning of a window and each further sixteenth of its limit: polls would otherwise have
-- Redis write megabytes a second, and rewrite its file again and again (docs/decisions/0009-own-rate-limiter.md).
local function take(i, windowMs, count, limits)
  local window = KEYS[2 * i - 1]
  local status = redis.call('HGET', KEYS[2 * i], 'status')
  if not status then
    return nil
  end
  local limit = limits[status] or 0
  redis.set_repl(redis.REPL_REPLICA)
  local used = redis.call('INCRBY', window, count) - count
  local left = used == 0 and 0 or redis.call('PTTL', window)
  local isNew = left <= 0
  if isNew then
    used = 0
    left = windowMs
  end
  local granted = math.max(0, math.min(count, limit - used))
  if granted == 0 then
    redis.call('DECRBY', window, count)
  end
  redis.set_repl(redis.REPL_ALL)
  if isNew then
    redis.call('SET', window, granted, 'PX', windowMs)
  elseif math.floor(16 * (used + granted) / limit) > math.floor(16 * used / limit) then
    redis.call('SET', window, used + granted, 'KEEPTTL')
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
