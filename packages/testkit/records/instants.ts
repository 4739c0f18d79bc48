import fc from 'fast-check'
import moment from 'moment-timezone'

/** Zones whose clocks change at unusual times or by unusual amounts, or whose offsets had seconds. */
export const zones = [
  'UTC',
  'Europe/Rome',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Africa/Monrovia',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'Africa/Casablanca',
  'Pacific/Chatham',
  'Antarctica/Troll',
] as const

/** Any zone; those above more often. */
export const anyZone = fc.oneof(fc.constantFrom(...zones), fc.constantFrom(...moment.tz.names()))

/** Clock changes: Rome, Lord Howe, St. John's at 00:01, Monrovia in January 1972, Apia's lost day. */
const changes = [
  '2026-03-29T01:00:00Z',
  '2026-10-25T01:00:00Z',
  '2026-04-04T15:00:00Z',
  '2026-10-03T15:30:00Z',
  '2010-03-14T03:31:00Z',
  '2010-11-07T02:31:00Z',
  '1972-01-07T00:44:30Z',
  '1971-06-01T12:00:00Z',
  '2011-12-30T10:00:00Z',
  '2026-08-19T00:00:00Z',
].map(text => Date.parse(text))

/** An instant from 1970 to 2060, often within two hours of a clock change; epoch milliseconds. */
export const instant = fc.oneof(
  fc.integer({ min: 0, max: Date.UTC(2060, 0, 1) }),
  fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -7_200_000, max: 7_200_000 }))
    .map(([at, by]) => at + by),
)
