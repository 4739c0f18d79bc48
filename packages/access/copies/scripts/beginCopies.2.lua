-- Begins a round of copying all API keys.
-- KEYS[1]  the latest round that was started
-- KEYS[2]  the latest round that was finished
-- returns  the number of the new round: larger than both, also if one of the two keys was lost
local round = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), tonumber(redis.call('GET', KEYS[2]) or 0)) + 1
redis.call('SET', KEYS[1], round)
return round
