import type { RecordHeaders } from '@tally/kafka'
import type { TestRecord, TopicType } from '@tally/testkit/processes/tally'
import type { Festival } from '@tally/testkit/records/festival'
import fc from 'fast-check'

const topicTypes = ['organizations', 'events', 'orders', 'refunds'] as const satisfies TopicType[]

const badNames = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', '\0', 'eventId']
const hugeNumbers = [
  '1e309',
  '-1e309',
  '1e-400',
  '9'.repeat(400),
  '0.1'.padEnd(400, '1'),
  '-0',
  '9007199254740993',
]

/** JSON text of any shape; numbers as they are written, so that some are beyond what a double holds. */
const jsonText = fc.oneof(
  fc.json({ depthSize: 'medium', maxDepth: 6 }),
  fc.constantFrom(...hugeNumbers),
  fc
    .tuple(fc.constantFrom(...badNames), fc.json())
    .map(([name, value]) => `{${JSON.stringify(name)}:${value}}`),
  fc
    .constantFrom('[', '{"a":')
    .chain(open => fc.integer({ min: 1, max: 50_000 }).map(depth => nested(open, depth))),
  fc.constantFrom('', ' ', 'nul', 'NaN', '\ufeff{}', '{"a":1}{"a":1}', '{"a":"\\ud800"}', "{'a':1}"),
)

function nested(open: string, depth: number): string {
  return `${open.repeat(depth)}1${(open === '[' ? ']' : '}').repeat(depth)}`
}

/** Bytes of a record that may be anything; mostly no UTF-8. */
const anyBytes = fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes))

/** A good record of the festival with some fields replaced by any JSON, as text; some are still good. */
const twisted = (festival: Festival, type: TopicType) =>
  fc
    .tuple(fc.dictionary(fc.constantFrom(...fieldsOf(festival, type), ...badNames), jsonText, { maxKeys: 3 }))
    .map(([over]) => {
      const { value } = newRecord(festival, type)
      const fields = {
        ...Object.fromEntries(Object.entries(value).map(([k, v]) => [k, JSON.stringify(v)])),
        ...over,
      }
      return Buffer.from(
        `{${Object.entries(fields).map(([name, text]) => `${JSON.stringify(name)}:${text}`)}}`,
      )
    })

/** A good record's bytes with one to three bits turned; only the decoder can tell whether some of them are good. */
const flipped = (festival: Festival, type: TopicType) =>
  fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 7 })), { minLength: 1, maxLength: 3 }).map(flips => {
    const bytes = Buffer.from(JSON.stringify(newRecord(festival, type).value))
    for (const [place, bit] of flips) {
      const at = place % bytes.length
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
    }
    return bytes
  })

const headers: fc.Arbitrary<RecordHeaders> = fc
  .array(
    fc.tuple(
      fc.oneof(
        fc.constantFrom(...badNames, 'tally.reason', '__connect.errors.offset'),
        fc.string({ maxLength: 10 }),
      ),
      fc.oneof(anyBytes, fc.string({ unit: 'binary', maxLength: 20 }), fc.constant(null)),
    ),
    { maxLength: 4 },
  )
  .map(pairs => Object.assign(Object.create(null), Object.fromEntries(pairs)) as RecordHeaders)

const keyOf = (festival: Festival, type: TopicType) =>
  type === 'organizations' ? festival.organizationId : festival.eventId

/** Any record for one of the four topics, mostly under the festival's key. */
export const anyRecord = (festival: Festival): fc.Arbitrary<TestRecord & { value: Buffer | null }> =>
  fc.constantFrom(...topicTypes).chain(type => {
    const own = keyOf(festival, type)
    const key = fc.oneof(
      { weight: 8, arbitrary: fc.constant(own) },
      { weight: 1, arbitrary: fc.constantFrom(null, '', own.toUpperCase(), '__proto__') },
      { weight: 1, arbitrary: anyBytes },
    )
    const value = fc.oneof(
      { weight: 3, arbitrary: flipped(festival, type) },
      { weight: 3, arbitrary: twisted(festival, type) },
      { weight: 2, arbitrary: jsonText.map(text => Buffer.from(text)) },
      { weight: 1, arbitrary: anyBytes },
      { weight: 1, arbitrary: fc.constant(null) },
    )
    return fc.record({ type: fc.constant(type), key, value, headers })
  })

/** What takes the most room: strings of a MiB as value, field and field name, and as deep a nesting. */
export function largeRecords(festival: Festival): (TestRecord & { value: Buffer })[] {
  const size = 2 ** 20 - 2_000
  const text = 'x'.repeat(size)
  const order = JSON.stringify(festival.order().value)
  const values = [
    text,
    JSON.stringify(text),
    '['.repeat(size),
    nested('[', size / 2),
    order.replace('{', `{"${text.slice(1_000)}":1,`),
    order.replace('{', `{"note":"${text.slice(1_000)}",`),
    order.replace('{', `{"deep":${nested('[', size / 3)},`),
    order.replace('"Cash"', JSON.stringify(text.slice(1_000))),
    `[${'1,'.repeat(size / 2 - 2)}1]`,
  ].map(value => Buffer.from(value))
  return [...values, Buffer.alloc(size, 0xff)].map(value => ({
    type: 'orders',
    key: festival.eventId,
    value,
  }))
}

let last = 1
/** Each record has a version or id of its own, so far from the last that a few turned bits make none of another. */
function newRecord(festival: Festival, type: TopicType): TestRecord {
  last += 7_307
  if (type === 'organizations') return festival.organization({ version: last })
  if (type === 'events') return festival.event({ version: last })
  if (type === 'orders') return festival.order({ orderId: `till-${last}` })
  return festival.refund({ orderId: 'gone', refundId: `back-${last}`, version: 1 })
}

const fieldsOf = (festival: Festival, type: TopicType) => Object.keys(newRecord(festival, type).value)
