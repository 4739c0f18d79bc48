import { databaseOfFile } from '@tally/testkit/servers/database'
import fc from 'fast-check'
import { type RawBuilder, sql } from 'kysely'
import { expect, test } from 'vitest'
import { bigints, bigintsAt, booleans, ints, jsons, texts, uuids } from './binaryArrays.ts'

const database = await databaseOfFile({ migrated: false })

/** What Postgres reads from an array of this type. */
async function read(array: Buffer, type: string): Promise<unknown[]> {
  const cast: RawBuilder<unknown> = sql.raw(`::${type}[]`)
  const { rows } = await sql<{ value: unknown }>`select value from unnest(${array}${cast}) as value`.execute(
    database.db,
  )
  return rows.map(({ value }) => value)
}

const whole = [
  0,
  1,
  -1,
  4_294_967_295,
  -4_294_967_296,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  null,
]
const long = 'Frittura mista '.repeat(10)
const strings = [
  '',
  'Frittura',
  long,
  `${long}è 🍕`,
  ...Array.from({ length: 20 }, () => 'è'.repeat(100)),
  'a "b" {c}, \\d\\ \t\n',
  'è 🍕 \u{10ffff}',
  'NULL',
  null,
]

test.for([
  { type: 'bigint', array: bigints(whole), values: whole },
  { type: 'int', array: ints([0, -1, 2_147_483_647, null]), values: [0, -1, 2_147_483_647, null] },
  { type: 'boolean', array: booleans([true, false, null]), values: [true, false, null] },
  { type: 'text', array: texts(strings), values: strings },
  { type: 'json', array: jsons(['{"a": "\\u00e8"}', null]), values: ['{"a": "\\u00e8"}', null] },
  {
    type: 'uuid',
    array: uuids(['7c1e0000-0000-4000-8000-0000000000ff', '7c1e0000-0000-4000-8000-0000000000ff']),
    values: ['7c1e0000-0000-4000-8000-0000000000ff', '7c1e0000-0000-4000-8000-0000000000ff'],
  },
])('Postgres reads an array of $type unchanged', async ({ type, array, values }) => {
  expect(await read(array, type)).toEqual(values)
})

test('numbers at given positions are surrounded by zeros', async () => {
  const array = bigintsAt(6, [4, 0, 5], ['-7', '9007199254740991', '-9007199254740991'], Number)
  expect(await read(array, 'bigint')).toEqual([9007199254740991, 0, 0, 0, -7, -9007199254740991])
  expect(await read(bigintsAt<number>(2, [], [], Number), 'bigint')).toEqual([0, 0])
})

test('texts in any script and nulls, in any order, come back as they are', async () => {
  const text = fc.oneof(
    fc.constantFrom('Ä', 'Caffè 12', '卓7', '🍕', 'x', '', 'è'.repeat(70)),
    fc.string({ unit: 'binary', maxLength: 80 }).map(any => any.toWellFormed().replaceAll('\0', '')),
  )
  const values = fc.array(fc.oneof(text, fc.constant(null)), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(values, async some => {
      expect(await read(texts(some), 'text')).toEqual(some)
    }),
    {
      numRuns: 300,
      examples: [[['Ä', 'Ä', 'Ä', null]], [[...Array(20).fill('Caffè 12'), ...Array(8).fill(null)]]],
    },
  )
})

test('an empty array is valid', async () => {
  expect(await read(texts([]), 'text')).toEqual([])
})
