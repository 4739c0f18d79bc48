-- Stores what a revision changed in a hash, atomically, and never an older revision over a newer one.
-- KEYS[1]  the hash of one event or one organization; its field `revision` is a number
-- ARGV[1]  the revision
-- ARGV[2]  the revision that these fields are the difference from, or `whole`: they replace the hash
-- ARGV[3+] field, value, ...
-- returns  `stored`; `older`: the hash is already as new; `gap`: the hash is not at the revision of ARGV[2], publish it whole
local revision = tonumber(ARGV[1])
local found = redis.pcall('HGET', KEYS[1], 'revision')
if type(found) == 'table' then
  -- A key of another type is not a document.
  redis.call('DEL', KEYS[1])
  found = false
end
local current = tonumber(found or '-1')
if current > revision then
  return 'older'
end
if ARGV[2] == 'whole' then
  redis.call('DEL', KEYS[1])
elseif current ~= tonumber(ARGV[2]) then
  if current == revision then
    return 'older'
  end
  return 'gap'
end
for i = 3, #ARGV, 1000 do
  redis.call('HSET', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('HSET', KEYS[1], 'revision', ARGV[1])
return 'stored'
