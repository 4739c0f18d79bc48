-- Put before the scripts that write a shard's hash. A shard is taken over into a new epoch by dropping its watermarks: Postgres may
-- have lost what they claim. Returns the epoch that the hash is in then; a script does nothing if that is not its own.
local function enter(key, epoch)
  local current = tonumber(redis.call('HGET', key, 'epoch') or '0')
  if current >= tonumber(epoch) then
    return current
  end
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if string.sub(field, 1, 6) == 'as-of:' then
      redis.call('HDEL', key, field)
    end
  end
  redis.call('HSET', key, 'epoch', epoch)
  return tonumber(epoch)
end
