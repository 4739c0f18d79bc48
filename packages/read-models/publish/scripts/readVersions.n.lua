-- Reads hashes of shards and, after each, those of its events: one command in place of one for each hash. versions.lua is prepended;
-- it defines `addVersions`, and says what KEYS and ARGV are, from the first of each.
-- returns  the lines that `addVersions` adds
local lines = {}
addVersions(lines, 1, 1)
return table.concat(lines, '\n')
