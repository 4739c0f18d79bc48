-- Puts the copy of an API key's record, and never one that is not revoked over one that is.
-- KEYS[1]  the key's copy
-- ARGV[1]  the copy, JSON with the field `revokedAt`
-- ARGV[2]  `1` where that record is revoked, else `0`
-- ARGV[3]  seconds until the copy is forgotten
-- returns  `stored`; `older`: the copy that is there says revoked
if ARGV[2] == '0' then
  local current = redis.call('GET', KEYS[1])
  if current then
    local readable, copy = pcall(cjson.decode, current)
    if readable and type(copy) == 'table' and type(copy.revokedAt) == 'number' then
      return 'older'
    end
  end
end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[3])
return 'stored'
