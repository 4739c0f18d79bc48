import fc from 'fast-check'
import { expect, test } from 'vitest'
import { goodRecords } from '../test/records.ts'
import { order, readOrder } from './order.ts'

const good = goodRecords.orders
const [line] = good.items

/** Values at and beyond the edge of one rule or another. */
const edges: unknown[] = [
  ...[undefined, null, true, 'x', '', {}, [], Number.NaN, '\0', '\ud800', '🍕', 'é'.repeat(201)],
  ...[0, -0, 1, -1, 1.5, 2_147_483_647, 2_147_483_648, 100_000, 100_001, 2 ** 53 - 1, 2 ** 53],
  ...[-100_000, -100_001, -1.5, -2.5, -12.505, -99_999_999.99, -100_000_000, -33_333_333.33],
  ...[0.01, 12.505, 99_999_999.99, 100_000_000, 33_333_333.33, 1e-7],
  ...[1, 50, 51, 64, 65, 200, 201, 1000, 1001].map(length => 'a'.repeat(length)),
  ...['.', '..', '...', 'a/b', 'a b', 'ü', '~'],
  ...['7C1E0000-0000-4000-8000-0000000000FF', '7c1e0000-0000-4000-8000-00000000000g'],
  ...['2026-09-04T19:31:07+02:00', '2026-02-30T00:00:00Z', '1969-12-31T23:59:59Z', '2026-09-04t19:31:07Z'],
  ...['Paid', 'paid', 'Cancelled'],
  ...[[line], Array(500).fill(line), Array(501).fill(line), [[line]], [null], [good.eventId]],
  ...[1, 2].map(lines => Array(lines).fill({ ...line, quantity: 1, unitPrice: 99_999_999.99 })),
  [1, -1].map(quantity => ({ ...line, quantity, unitPrice: 99_999_999.99 })),
  [1, -1].map(quantity => ({ ...line, quantity, unitPrice: -0.5 })),
]

/** The other way round too: a rule that is stricter without the schema would be slow without any other sign. */
function expectAlike(json: object): boolean {
  const read = readOrder(json, JSON.stringify(json))
  const parsed = order.safeParse(json)
  expect({ json, isGood: read !== undefined }).toEqual({ json, isGood: parsed.success })
  if (read !== undefined) expect(read).toStrictEqual(parsed.data)
  return read !== undefined
}

test('at every edge of every field it is judged as by the schema', () => {
  expect(expectAlike({ ...good, unknown: 1 })).toBe(true)
  for (const edge of edges) {
    for (const name of Object.keys(good)) expectAlike({ ...good, [name]: edge })
    for (const name of Object.keys(line as object))
      expectAlike({ ...good, items: [{ ...(line as object), [name]: edge }] })
  }
})

test('an escaped U+0000 or surrogate is left to the schema, any other escape is read without it', () => {
  const read = (escaped: string) => {
    const text = JSON.stringify({ ...good, paymentMethod: '?' }).replace('"?"', `"${escaped}"`)
    return readOrder(JSON.parse(text), text)
  }
  for (const escaped of ['a\\u0000', '\\ud83c', '\\uDF55', '\\uD83C\\uDF55'])
    expect(read(escaped)).toBeUndefined()
  for (const escaped of ['caf\\u00e9', '\\\\', '\\u20AC'])
    expect(read(escaped)?.paymentMethod).toBe(JSON.parse(`"${escaped}"`))
})

const value = fc.oneof(fc.constantFrom(...edges), fc.jsonValue(), fc.double(), fc.string({ unit: 'binary' }))
const withoutOrWith = (fields: object) =>
  fc.tuple(fc.constantFrom(...Object.keys(fields)), fc.option(value, { nil: Symbol.for('absent') }))

function replaced(fields: object, [name, by]: [string, unknown]): object {
  const { [name as never]: _, ...others } = fields as Record<string, unknown>
  return by === Symbol.for('absent') ? others : { ...others, [name]: by }
}

test('what is read without the schema, the schema takes too, and makes the same of it', () => {
  let read = 0
  fc.assert(
    fc.property(
      fc.array(withoutOrWith(good), { maxLength: 2 }),
      fc.array(withoutOrWith(line as object), { maxLength: 2 }),
      (ofOrder, ofLine) => {
        const changedLine = ofLine.reduce(replaced, line as object)
        const json = ofOrder.reduce(replaced, { ...good, items: [line, changedLine] } as object)
        if (expectAlike(json)) read++
      },
    ),
    { numRuns: 5_000 },
  )
  expect(read).toBeGreaterThan(500)
})

test.each([null, undefined, [], 'x', 7, true])('%j is not an order', json => {
  expect(readOrder(json, JSON.stringify(json))).toBeUndefined()
})
