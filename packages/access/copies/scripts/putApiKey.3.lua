-- Stores the copy of an API key's record with the current round of copying. A copy that says revoked is replaced only by
-- one that also says revoked, or by a later round: it has read Postgres since, which may have lost the revocation.
-- KEYS[1]  the key's copy
-- KEYS[2]  the latest round that was begun
-- KEYS[3]  the latest round that was finished
-- ARGV[1]  the copy, JSON with the field `revokedAt`
-- ARGV[2]  `1` if that record is revoked, else `0`
-- ARGV[3]  seconds until the copy expires
-- ARGV[4]  the round that writes it, 0 for none
-- returns  `stored`; `older`: the stored copy says revoked
if ARGV[2] == '0' then
  local current = redis.call('GET', KEYS[1])
  if current then
    local readable, copy = pcall(cjson.decode, current)
    if readable and type(copy) == 'table' and type(copy.revokedAt) == 'number' then
      if type(copy.round) ~= 'number' or copy.round >= tonumber(ARGV[4]) then
        return 'older'
      end
    end
  end
end
local round = math.max(tonumber(redis.call('GET', KEYS[2]) or 0), tonumber(redis.call('GET', KEYS[3]) or 0))
redis.call('SET', KEYS[1], '{"round":' .. string.format('%d', round) .. ',' .. string.sub(ARGV[1], 2), 'EX', ARGV[3])
return 'stored'
