import type { TestRecord } from '@tally/testkit/processes/tally'
import { burger, type Festival, type Fields, friday, saturday } from '@tally/testkit/records/festival'
import { badTimestamps } from './timestamps.ts'

export type Case = { rule: string; reason: string; field?: string; record: TestRecord }

const day = (fields: Fields) => ({
  dayId: saturday,
  date: '2026-09-05',
  openedAt: '2026-09-05T16:00:00Z',
  closedAt: null,
  ...fields,
})
const line = (fields: Fields) => ({
  menuItemId: burger,
  itemName: 'Burger',
  quantity: 1,
  unitPrice: 1,
  ...fields,
})
const list = <T>(length: number, make: (index: number) => T) =>
  Array.from({ length }, (_, index) => make(index))

/** One bad record for each rule of docs/records.md. */
export function badRecords(festival: Festival): Case[] {
  const makers = openMakers(festival)
  return [badJson, badOrders, badEvents, badRefunds, badOrganizations, badKeys].flatMap(make => make(makers))
}

/** Functions that make one bad record each: of a wrong field, of a wrong value as a whole, of a wrong key. */
function openMakers(festival: Festival) {
  const { eventId } = festival
  const raw = (rule: string, value: Buffer | null): Case => ({
    rule,
    reason: 'not-json',
    record: { type: 'orders', key: eventId, value },
  })
  const schema = (rule: string, record: TestRecord, field?: string): Case => ({
    rule,
    reason: 'schema',
    record: { key: eventId, ...record },
    ...(field && { field }),
  })
  const order = (field: string, value: unknown): Case =>
    schema(`order ${field} ${show(value)}`, festival.order({ [field]: value }), field)
  const item = (field: string, value: unknown): Case =>
    schema(`line ${field} ${show(value)}`, festival.order({ items: [line({ [field]: value })] }), field)
  const event = (field: string, value: unknown): Case =>
    schema(`event ${field} ${show(value)}`, festival.event({ version: 99, [field]: value }), field)
  const refund = (field: string, value: unknown): Case =>
    schema(`refund ${field} ${show(value)}`, festival.refund({ orderId: 'A', [field]: value }), field)
  const organization = (field: string, value: unknown): Case => ({
    rule: `organization ${field} ${show(value)}`,
    reason: 'schema',
    field,
    record: { ...festival.organization({ version: 99, [field]: value }), key: festival.organizationId },
  })
  const keyed = (rule: string, record: TestRecord, key: string | Buffer | null): Case => ({
    rule,
    reason: 'key-mismatch',
    record: { ...record, key },
  })
  return { festival, raw, schema, order, item, event, refund, organization, keyed }
}
type Makers = ReturnType<typeof openMakers>

function badJson({ raw, schema, festival }: Makers): Case[] {
  const good = festival.order()
  const json = Buffer.from(JSON.stringify(good.value))
  return [
    raw('no value', null),
    raw('an empty value', Buffer.alloc(0)),
    raw('half a JSON text', json.subarray(0, 40)),
    raw('a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), json])),
    raw('not UTF-8', Buffer.from(JSON.stringify(good.value).replace('Cash', 'Caf\xe9'), 'latin1')),
    raw('UTF-16', Buffer.from(JSON.stringify(good.value), 'utf16le')),
    raw('a comment', Buffer.concat([json, Buffer.from(' // x')])),
    raw('NaN', Buffer.from('NaN')),
    ...['[]', '"order"', '7', 'null', 'true', '{}'].map(text =>
      schema(`the JSON ${text}`, { ...good, value: Buffer.from(text) }),
    ),
    schema('an array with an order', { ...good, value: [good.value] }),
  ]
}

function badOrders({ order, item, schema, festival }: Makers): Case[] {
  const { eventId } = festival
  return [
    ...[0, -1, 1.5, '2', null, undefined, 2_147_483_648, true].flatMap(value => [
      order('areaId', value),
      item('menuItemId', value),
    ]),
    ...[0, 2_147_483_648].map(value => order('dayId', value)),
    ...[0, -3, 1.5, 2 ** 53, '1', null].map(value => order('version', value)),
    ...[-12.505, 12.505, 100_000_000, -100_000_000, '12.50', null, 0.1 + 0.2, 1e300].map(value =>
      order('totalAmount', value),
    ),
    ...[-100_000_000, 0.001].map(value => order('amountPaid', value)),
    ...[-100_000_000, -0.001, 12.505, '1'].map(value => item('unitPrice', value)),
    ...[0, 100_001, -100_001, 1.5, -1.5, '1', null].map(value => item('quantity', value)),
    schema(
      'lines that add up to a cent too much',
      festival.order({ items: [line({ quantity: 2, unitPrice: 50_000_000 }), line({})] }),
      'items',
    ),
    schema(
      'lines that give back a cent too much',
      festival.order({ items: [line({ quantity: -2, unitPrice: 50_000_000 }), line({ unitPrice: -0.01 })] }),
      'items',
    ),
    ...badTimestamps.map(value => order('orderDateTime', value)),
    ...['paid', '', null, 'Refunded'].map(value => order('status', value)),
    ...['', 'a/b', '.', '..', 'a b', 'x'.repeat(65), 'é', 'tab\t', 7, null].map(value =>
      order('orderId', value),
    ),
    ...['', 'x'.repeat(201), null, 123, 'nul\0', '\ud800'].map(value => order('displayOrderNumber', value)),
    ...['x'.repeat(201), null, 'lone \udc00'].map(value => order('paymentMethod', value)),
    ...['x'.repeat(51), 12].map(value => order('tableNumber', value)),
    ...['true', 1, null].map(value => order('isTakeaway', value)),
    ...[null, {}, 'x', list(501, () => line({}))].map(value => order('items', value)),
    ...['', 'x'.repeat(201), null].map(value => item('itemName', value)),
    ...['x'.repeat(1001), 3, 'nul\0'].map(value => item('note', value)),
    ...['', 'no-uuid', `{${eventId}}`, eventId.replaceAll('-', ''), `${eventId}0`, null].map(value =>
      order('eventId', value),
    ),
  ]
}

function badEvents({ event }: Makers): Case[] {
  return [
    ...['', 'x'.repeat(201), null].map(value => event('name', value)),
    ...['+02:00', 'europe/rome', 'Mars/Olympus', '', 'Europe/Rome ', 7].map(value =>
      event('timeZone', value),
    ),
    event('startDate', '2026-09-05'),
    event(
      'areas',
      list(201, index => ({ areaId: index + 1, name: 'x' })),
    ),
    event('areas', [
      { areaId: 1, name: 'x' },
      { areaId: 1, name: 'y' },
    ]),
    event('areas', null),
    event('areas', [{ areaId: 1, name: '' }]),
    event(
      'days',
      list(1001, index => day({ dayId: index + 1, closedAt: '2026-09-06T00:00:00Z' })),
    ),
    event('days', [day({}), day({ closedAt: '2026-09-06T00:00:00Z' })]),
    event('days', [day({}), day({ dayId: friday, closedAt: undefined })]),
    event('days', [day({ closedAt: '2026-09-05T15:59:59Z' })]),
    ...['2026-9-5', '2026-02-29', '2026-09-05T00:00:00Z', '', null].map(date =>
      event('days', [day({ date })]),
    ),
    event(
      'menuItems',
      list(2001, index => ({ menuItemId: index + 1, name: 'x', categoryName: '' })),
    ),
    event(
      'menuItems',
      [1, 1].map(menuItemId => ({ menuItemId, name: 'x', categoryName: '' })),
    ),
    event('menuItems', [{ menuItemId: 1, name: 'x', categoryName: null }]),
    event('menuItems', [{ menuItemId: 1, name: 'x', categoryName: 'x'.repeat(201) }]),
    event('organizationId', 'no-uuid'),
  ]
}

function badRefunds({ refund, schema, festival }: Makers): Case[] {
  return [
    refund('refundId', 'a/b'),
    refund('orderId', ''),
    refund('refundedAt', '2026-09-05T20:02:00'),
    ...[-1, 12.505, null].map(value => refund('amount', value)),
    refund('lines', {}),
    refund(
      'lines',
      list(501, () => ({ menuItemId: burger, quantity: 1, amount: 0 })),
    ),
    refund('lines', [{ menuItemId: burger, quantity: 0, amount: 0 }]),
    refund('lines', [{ menuItemId: burger, quantity: -1, amount: 1 }]),
    refund('lines', [{ menuItemId: burger, quantity: 1, amount: -1 }]),
    ...[0, -1, 1.5, 2 ** 53, '1'].map(value => refund('version', value)),
    schema(
      'refund lines that add up to a cent too much',
      festival.refund({
        orderId: 'A',
        lines: [99_999_999.99, 0.01].map(amount => ({ menuItemId: burger, quantity: 1, amount })),
      }),
      'lines',
    ),
  ]
}

function badOrganizations({ organization }: Makers): Case[] {
  return [
    ...['Active', '', null].map(value => organization('status', value)),
    organization('name', ''),
    organization('version', 0),
  ]
}

function badKeys({ keyed, festival }: Makers): Case[] {
  const { eventId } = festival
  return [
    keyed('no key', festival.order(), null),
    keyed('an empty key', festival.order(), ''),
    keyed('a key in upper case', festival.order(), eventId.toUpperCase()),
    keyed(
      'the key of another event',
      festival.order(),
      eventId.replace(/.$/, last => (last === '0' ? '1' : '0')),
    ),
    keyed('the order id as the key', festival.order({ orderId: 'A' }), 'A'),
    keyed('a key with a space behind it', festival.refund({ orderId: 'A' }), `${eventId} `),
    keyed(
      'the organization as the key of its event',
      festival.event({ version: 99 }),
      festival.organizationId,
    ),
    keyed('the event as the key of its organization', festival.organization({ version: 99 }), eventId),
    {
      rule: 'a schema fault before a wrong key',
      reason: 'schema',
      record: { ...festival.order({ version: 0 }), key: null },
    },
    {
      rule: 'a wrong key before a conflict',
      reason: 'key-mismatch',
      record: { ...festival.event({ version: 99, organizationId: eventId }), key: '' },
    },
    {
      rule: 'another name under the version that is applied',
      reason: 'contradiction',
      field: 'name',
      record: festival.event({ name: 'Sagra della Rana' }),
    },
    keyed('a wrong key before a contradiction', festival.event({ name: 'Sagra della Rana' }), ''),
    {
      rule: 'a conflict before a contradiction',
      reason: 'conflict',
      field: 'organizationId',
      record: festival.event({ name: 'Sagra della Rana', organizationId: eventId }),
    },
    {
      rule: 'another organization',
      reason: 'conflict',
      field: 'organizationId',
      record: festival.event({ version: 99, organizationId: eventId }),
    },
  ]
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 40 ? `${text.slice(0, 40)}… (${text.length})` : text
}
