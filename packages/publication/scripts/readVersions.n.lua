-- Reads hashes of shards and, after each, those of its events: one command in place of one for each hash. versions.lua is prepended.
-- KEYS[1+], ARGV[1+]  as for `addVersions` in versions.lua
-- returns             its lines, joined by newlines
local lines = {}
addVersions(lines, 1, 1)
return table.concat(lines, '\n')
