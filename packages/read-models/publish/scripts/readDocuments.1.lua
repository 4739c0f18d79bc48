-- Reads documents and other fields of one event, all of one revision. An items document is put together from its segments
-- (documents/segments.ts).
-- KEYS[1]  the hash of the event
-- ARGV     names of documents and fields
-- returns  their texts; false for a missing one
local function read(fields)
  local texts = {}
  for from = 1, #fields, 1000 do
    local some = redis.call('HMGET', KEYS[1], unpack(fields, from, math.min(from + 999, #fields)))
    for i = 1, #some do
      texts[from + i - 1] = some[i]
    end
  end
  return texts
end

local texts = read(ARGV)
for i = 1, #ARGV do
  local place = string.match(ARGV[i], '^items:(.*)$')
  local listed = place and redis.call('HGET', KEYS[1], 'segments:' .. place)
  if place and not listed then
    texts[i] = false
  elseif listed then
    local fields = {}
    for segment in string.gmatch(listed, '[^,]+') do
      fields[#fields + 1] = ARGV[i] .. ':' .. segment
    end
    local sold = {}
    for _, text in ipairs(read(fields)) do
      if text and text ~= '' then
        sold[#sold + 1] = text
      end
    end
    texts[i] = '[' .. table.concat(sold, ',') .. ']'
  end
end
return texts
