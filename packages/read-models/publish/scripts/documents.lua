-- Prepended to the scripts that read documents of events.

-- Texts of fields of the hash at a place among the keys; false for a missing one.
local function readFields(place, fields)
  local texts = {}
  for from = 1, #fields, 1000 do
    local some = redis.call('HMGET', KEYS[place], unpack(fields, from, math.min(from + 999, #fields)))
    for i = 1, #some do
      texts[from + i - 1] = some[i]
    end
  end
  return texts
end

-- Texts of documents and other fields of the event at a place among the keys. An items document is put together from its
-- segments (documents/segments.ts).
local function readTexts(place, names)
  local texts = readFields(place, names)
  for i = 1, #names do
    local area = string.match(names[i], '^items:(.*)$')
    local listed = area and redis.call('HGET', KEYS[place], 'segments:' .. area)
    if area and not listed then
      texts[i] = false
    elseif listed then
      local fields = {}
      for segment in string.gmatch(listed, '[^,]+') do
        fields[#fields + 1] = names[i] .. ':' .. segment
      end
      local sold = {}
      for _, text in ipairs(readFields(place, fields)) do
        if text and text ~= '' then
          sold[#sold + 1] = text
        end
      end
      texts[i] = '[' .. table.concat(sold, ',') .. ']'
    end
  end
  return texts
end
