-- Stores what a revision changed in a hash, atomically, and never an older revision over a newer one.
-- KEYS[1]  the hash of one event or one organization; its field `revision` is a number
-- ARGV[1]  the revision
-- ARGV[2]  the revision that these fields are the difference from, or `whole`: they replace the hash. A difference also fits
--          a later revision of the same epoch, whose changes it then repeats; one of another epoch may be lost in Postgres
-- ARGV[3]  after how many milliseconds the hash expires unless it is written again; 0: never
-- ARGV[4+] field, value, ...; those of an event begin with `epoch`
-- returns  `stored`; `older`: the hash is already as new; `gap`: the difference does not fit, publish the hash whole

local function has(list, segment)
  return string.find(',' .. list .. ',', ',' .. segment .. ',', 1, true) ~= nil
end

-- Brings the segments that a difference changes and their lists together (documents/segments.ts): a list among the fields
-- replaces that of the hash, and the segments that it lacks are removed; otherwise new segments are added to that of the hash.
local function listSegments()
  local changed, lists = {}, {}
  for i = 4, #ARGV, 2 do
    local list = string.match(ARGV[i], '^segments:(.+)$')
    local place, segment = string.match(ARGV[i], '^items:([^:]+:[^:]+):([^:]+)$')
    if list then
      lists[list] = ARGV[i + 1]
    elseif place then
      changed[place] = changed[place] or {}
      table.insert(changed[place], segment)
    end
  end
  for place, list in pairs(lists) do
    for segment in string.gmatch(redis.call('HGET', KEYS[1], 'segments:' .. place) or '', '[^,]+') do
      if not has(list, segment) then
        redis.call('HDEL', KEYS[1], 'items:' .. place .. ':' .. segment)
      end
    end
  end
  for place, segments in pairs(changed) do
    if not lists[place] then
      local known = redis.call('HGET', KEYS[1], 'segments:' .. place) or ''
      local listed = {}
      for _, segment in ipairs(segments) do
        if not has(known, segment) then
          listed[#listed + 1] = tonumber(segment)
        end
      end
      if #listed > 0 then
        for segment in string.gmatch(known, '[^,]+') do
          listed[#listed + 1] = tonumber(segment)
        end
        table.sort(listed)
        redis.call('HSET', KEYS[1], 'segments:' .. place, table.concat(listed, ','))
      end
    end
  end
end

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
else
  local base = tonumber(ARGV[2])
  if current == revision and current ~= base then
    return 'older'
  end
  local isLater = current > base and ARGV[4] == 'epoch' and redis.call('HGET', KEYS[1], 'epoch') == ARGV[5]
  -- `1`: items documents are not in segments yet.
  if current ~= base and not isLater or redis.call('HGET', KEYS[1], 'complete') == '1' then
    return 'gap'
  end
  listSegments()
end
for i = 4, #ARGV, 1000 do
  redis.call('HSET', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('HSET', KEYS[1], 'revision', ARGV[1])
if tonumber(ARGV[3]) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return 'stored'
