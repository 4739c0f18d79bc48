import { eventExample, orderExample, type RecordType, recordTypes } from '@tally/contract'
import { rules } from '@tally/contract/test/rules'
import fc from 'fast-check'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { judge, openShopDatabase, type ShopDatabase, type Written } from './shopDatabase.ts'
import { storeRecord } from './store.ts'

/** docs/guides/outbox: its tables take what Tally takes, and nothing that Tally rejects (docs/records.md). */
let shop: ShopDatabase
let sql: Client
beforeAll(async () => {
  shop = await openShopDatabase()
  sql = await shop.connect()
})
afterAll(() => shop?.drop())

type Fields = Record<string, unknown>

/** Rules of fields that no column of the shop becomes: ids are numbers of its own, and notes stay there. */
const notInShop = ['an order id', 'a refund id', "a refund's order", "a line's note"]

/** What Postgres writes or reads in its own way: each must be refused, or become a record that Tally takes. */
const ofPostgres: Record<string, unknown[]> = {
  instants: [
    'infinity',
    '-infinity',
    '1969-12-31 23:59:59.9999Z',
    '9999-12-31 23:59:59.9999999Z',
    '0044-03-15 12:00Z BC',
    '294276-01-01 00:00Z',
    'now',
  ],
  'a date': ['infinity', '-infinity', '10000-01-01', '0044-03-15 BC', '0001-01-01', '9999-12-31', 'today'],
  amounts: ['NaN', 'Infinity', '-Infinity', '-0', '99999999.994', '99999999.995', '1e-9'],
  names: [
    '🍕'.repeat(150),
    '🍕'.repeat(100),
    '👩‍🍳'.repeat(41),
    '🍕'.repeat(30),
    '\uffff'.repeat(200),
    'e\u0301'.repeat(101),
  ],
  'a time zone': ['posix/Europe/Rome', 'localtime', 'Factory', 'CEST', 'EUROPE/ROME', '<+02>-02'],
  integers: ['2147483648', '0x0', '-0', '1e3'],
}
const ofRule = (name: string): unknown[] => {
  if (/time$|start date|opening|closing/.test(name)) return ofPostgres.instants ?? []
  if (/amount|price|sum/.test(name)) return ofPostgres.amounts ?? []
  if (/name|number$|method/.test(name)) return ofPostgres.names ?? []
  if (/id$|menu item$|area$|day$|quantity|version/.test(name)) return ofPostgres.integers ?? []
  return ofPostgres[name] ?? []
}

/** Good values that the shop refuses on purpose, or that it reads in another notation only. */
const stricter: Record<string, unknown[]> = {
  // Each line raises the version once more, and the example has two.
  'a version': [Number.MAX_SAFE_INTEGER],
  "a refund's version": [Number.MAX_SAFE_INTEGER, null],
  // The column is not null; its default is UTC.
  'a time zone': [null, undefined],
}
/** Postgres reads offsets up to 15:59; it takes the same instant in another notation. */
const otherNotation = ['2028-02-29T00:00:00-23:59']

describe.each(Object.entries(rules).filter(([name]) => !notInShop.includes(name)))('%s', (name, rule) => {
  const { type, fields, good, bad } = rule
  const recordOf = (value: unknown): Fields => ({ ...recordTypes[type].example, ...fields(value) })

  test('what Postgres takes is a record that Tally takes', async () => {
    const wrong = []
    for (const value of [...bad, ...ofRule(name)]) {
      const written = await storeRecord(sql, type, recordOf(value)).catch(() => undefined)
      const verdict = written === undefined ? undefined : judge(written)
      if (verdict?.outcome === 'rejected') wrong.push([value, verdict.message])
    }
    expect(wrong).toEqual([])
  })

  test('Postgres takes what Tally takes, and the record says the same', async () => {
    const refused = [...otherNotation, ...(stricter[name] ?? [])]
    for (const value of good.filter(value => !refused.includes(value))) {
      const written = await storeRecord(sql, type, recordOf(value))
      expect([value, said(written)]).toEqual([value, said(asSent(type, recordOf(value)))])
    }
  })
})

test('Postgres takes exactly the time zones that Tally takes', async () => {
  const { rows } = await sql.query('select name from pg_timezone_names union select name from time_zones')
  const names: string[] = rows.map(({ name }) => name)
  const takenBy = async (name: string) => {
    const event = { ...eventExample, timeZone: name }
    const written = await storeRecord(sql, 'events', event).catch(() => undefined)
    return { postgres: written !== undefined, tally: judge(asSent('events', event)).outcome === 'decoded' }
  }
  const differing = []
  for (const name of names) {
    const { postgres, tally } = await takenBy(name)
    if (postgres !== tally) differing.push({ name, postgres, tally })
  }
  expect(differing).toEqual([])
  expect(names).toContain('Europe/Rome')
})

test.each(['Africa/Monrovia', 'Pacific/Kiritimati', 'Pacific/Niue', 'Asia/Kolkata'])(
  'a session in %s writes the same instants',
  async zone => {
    const session = await shop.connect()
    await session.query(
      `set timezone = '${zone}'; set datestyle = 'SQL, DMY'; set intervalstyle = 'sql_standard'`,
    )
    const times = ['1970-01-01T00:00:00Z', '1971-06-01T12:00:00Z', '9999-12-31T23:59:59.999Z']
    for (const orderDateTime of times) {
      const order = { ...orderExample, orderDateTime }
      expect(said(await storeRecord(session, 'orders', order))).toEqual(said(asSent('orders', order)))
    }
  },
)

test('utf16_length counts as JavaScript does', async () => {
  const texts = fc.string({ unit: 'binary' }).filter(text => !text.includes('\0'))
  await fc.assert(
    fc.asyncProperty(texts, async text => {
      const { rows } = await sql.query('select utf16_length($1) as length', [text])
      expect(rows[0].length).toBe(text.length)
    }),
  )
})

/** The record as a producer would send it. */
const asSent = (type: RecordType, record: Fields): Written => {
  const key = String(type === 'organizations' ? record.organizationId : record.eventId).toLowerCase()
  return { type, key, value: JSON.stringify(record) }
}

const fieldsNotInShop = notInShop.flatMap(rule => Object.keys(rules[rule]?.fields(null) ?? {}))

/** What a record says, less what the shop does not send or numbers itself (versions, by the line). */
function said(written: Written): unknown {
  const decoded = judge(written)
  if (decoded.outcome === 'rejected') return decoded
  const { items, ...rest } = decoded.value as Fields
  const ofOrder = (items as Fields[] | undefined)?.map(line => ({ ...line, note: null }))
  const sent = Object.entries(rest).filter(([field]) => ![...fieldsNotInShop, 'version'].includes(field))
  return { ...Object.fromEntries(sent), items: ofOrder }
}
