-- Stores what a revision changed in a hash, atomically, and never an older revision over a newer one.
-- KEYS[1]  the hash of one event or one organization; its field `revision` is a number
-- ARGV[1]  the revision
-- ARGV[2]  the revision that these fields are the difference from, or `whole`: they replace the hash. A difference also fits
--          a later revision of the same epoch, whose changes it then repeats; one of another epoch may be lost in Postgres
-- ARGV[3]  after how many milliseconds the hash expires unless it is written again; 0: never
-- ARGV[4+] field, value, ...; those of an event begin with `epoch`
-- returns  `stored`; `older`: the hash is already as new; `gap`: the difference does not fit, publish the hash whole

local revision = tonumber(ARGV[1])
-- An error if the key has another type: then it is not a document.
local found = redis.pcall('HGET', KEYS[1], 'revision')
local current = type(found) == 'string' and tonumber(found) or -1
if current > revision then
  return 'older'
end
if ARGV[2] == 'whole' then
  redis.call('DEL', KEYS[1])
else
  local base = tonumber(ARGV[2])
  if current == revision and current ~= base then
    return 'older'
  end
  local isLater = current > base and ARGV[4] == 'epoch' and redis.call('HGET', KEYS[1], 'epoch') == ARGV[5]
  if current ~= base and not isLater then
    return 'gap'
  end
end
for i = 4, #ARGV, 1000 do
  redis.call('HSET', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('HSET', KEYS[1], 'revision', ARGV[1])
if tonumber(ARGV[3]) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return 'stored'
