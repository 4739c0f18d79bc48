import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as formats } from 'ajv-formats'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { goodRecords } from '../test/records.ts'
import { type RecordType, recordTypes } from './decode.ts'

type Properties = Record<string, Record<string, unknown>>

function schemaOf(type: RecordType) {
  const { $defs } = z.toJSONSchema(recordTypes[type].schema, { io: 'input' })
  return Object.values($defs ?? {})[0] as { properties: Properties; required: string[] }
}

test.each(Object.keys(recordTypes) as RecordType[])(
  '%s have a JSON Schema that takes the good record',
  type => {
    const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 6 })
    formats.default(ajv)
    const check = ajv.compile(z.toJSONSchema(recordTypes[type].schema, { io: 'input' }))
    expect(check(goodRecords[type]) ? null : check.errors).toBeNull()
    expect(check({ ...goodRecords[type], customerName: 'Ada' }), 'unknown fields are ignored').toBe(true)
  },
)

test('ids, versions and quantities are integers with their limits', () => {
  const { properties } = schemaOf('orders')
  expect(properties.areaId).toMatchObject({ type: 'integer', minimum: 1, maximum: 2_147_483_647 })
  expect(properties.version).toMatchObject({ type: 'integer', minimum: 1 })
  expect(properties.items).toMatchObject({
    maxItems: 500,
    items: { properties: { quantity: { type: 'integer', minimum: 1, maximum: 100_000 } } },
  })
})

test('timestamps, dates and ids say their format, money its limits', () => {
  expect(schemaOf('orders').properties).toMatchObject({
    eventId: { type: 'string', format: 'uuid' },
    orderDateTime: { type: 'string', format: 'date-time' },
    totalAmount: { type: 'number', minimum: 0, maximum: 99_999_999.99 },
    status: {
      enum: ['PreOrder', 'Pending', 'Paid', 'Preparing', 'ReadyForPickup', 'Completed', 'Cancelled'],
    },
  })
  expect(schemaOf('events').properties).toMatchObject({
    days: { maxItems: 1000, items: { properties: { date: { type: 'string', format: 'date' } } } },
  })
})

test('optional fields are not required', () => {
  expect(schemaOf('events').required).not.toContain('timeZone')
  expect(schemaOf('orders').required).not.toContain('tableNumber')
  expect(schemaOf('refunds').required).not.toContain('lines')
  expect(schemaOf('refunds').required).toEqual(['eventId', 'refundId', 'orderId', 'refundedAt', 'amount'])
})
