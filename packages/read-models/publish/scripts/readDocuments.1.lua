-- Reads documents and other fields of one event, all of one revision. documents.lua is prepended; it defines `readTexts`.
-- KEYS[1]  the hash of the event
-- ARGV     names of documents and fields
-- returns  their texts; false for a missing one
return readTexts(1, ARGV)
