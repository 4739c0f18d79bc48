-- Prepended to the scripts that write a shard's hash. Entering a higher epoch removes the watermarks, because Postgres may have
-- lost what they claim (docs/architecture.md, When Postgres or Redis goes back). Returns the epoch of the hash
-- afterwards; a script writes nothing if that is not its own.
local function enter(epoch)
  local current = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
  if current >= tonumber(epoch) then
    return current
  end
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(field, 1, 6) == 'as-of:' then
      redis.call('HDEL', KEYS[1], field)
    end
  end
  redis.call('HSET', KEYS[1], 'epoch', epoch)
  return tonumber(epoch)
end
