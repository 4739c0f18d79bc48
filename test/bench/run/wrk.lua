-- wrk's script: sends the requests of a plan (wrk.ts) in its order, and prints what it counted as JSON.
-- All is prepared before the load begins, and nothing is allocated during it, so that Lua costs next to nothing.

local order, size, at = {}, 0, 0

-- The plan: how many requests there are; a line for each (path, token, and an ETag or nothing, tab-separated); then the
-- number of one request a line, in the order in which they are sent, again from the start at the end.
function init(args)
   local lines = assert(io.open(args[1])):lines()
   local requests = {}
   for number = 1, tonumber(lines()) do
      local path, token, etag = lines():match("^(.-)\t(.-)\t(.*)$")
      local headers = { ["X-Api-Key"] = token }
      if etag ~= "" then headers["If-None-Match"] = etag end
      requests[number] = wrk.format("GET", path, headers)
   end
   for line in lines do order[#order + 1] = requests[tonumber(line)] end
   size = #order
   collectgarbage()
   collectgarbage("stop")
end

function request()
   at = at % size + 1
   return order[at]
end

-- Random, so that the connections, which all begin at once, do not ask at once. wrk looks for it before init.
local pause = tonumber(os.getenv("PAUSE_MS") or 0)
if pause > 0 then
   function delay() return math.random(pause / 2, pause * 3 / 2) end
end

function done(summary, latency)
   local errors = summary.errors
   io.write(string.format(
      '\n{"requests":%d,"bytes":%d,"microseconds":%d,"median":%d,"p99":%d,"failed":%d,"refused":%d}\n',
      summary.requests, summary.bytes, summary.duration, latency:percentile(50), latency:percentile(99),
      errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end
