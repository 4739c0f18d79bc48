import type { RecordType } from '../records/decode.ts'
import { goodRecords } from './records.ts'

type Fields = Record<string, unknown>
type Rule = { type: RecordType; fields: (value: unknown) => Fields; good: unknown[]; bad: unknown[] }

const [area] = goodRecords.events.areas
const [closed, open] = goodRecords.events.days
const [menuItem] = goodRecords.events.menuItems
const [line] = goodRecords.orders.items
const [refundLine] = goodRecords.refunds.lines
const field = (name: string) => (value: unknown) => ({ [name]: value })
const inLine = (name: string) => (value: unknown) => ({ items: [{ ...line, [name]: value }] })
const long = (length: number) => 'x'.repeat(length)
const many = (count: number, entry: (id: number) => Fields) =>
  Array.from({ length: count }, (_, i) => entry(i + 1))

const versions = { good: [1, 2.0, Number.MAX_SAFE_INTEGER], bad: [0, -1, 1.5, 2 ** 53, '2', null, 1e300] }
const integers = { good: [1, 2.0, 2_147_483_647], bad: [0, -1, 1.5, 2_147_483_648, '2', null, true, 1e300] }
const amounts = {
  good: [0, 0.01, 12.5, 1.005e1, 0.29, 1.13, 4.35, 99_999_999.99, 70_368_744.77],
  bad: [12.505, -0.01, 1.001, 100_000_000, 99_999_999.991, '12.5', null, 0.1 + 0.2],
}
const signedAmounts = {
  good: [...amounts.good, ...amounts.good.filter(Boolean).map(amount => -amount)],
  bad: [...amounts.bad.filter(amount => amount !== -0.01), -12.505, -100_000_000, -99_999_999.991],
}
const instants = {
  good: [
    '1970-01-01T00:00:00Z',
    '2026-09-04T21:31:07+02:00',
    '2026-09-04T19:31:07.123456789Z',
    '2028-02-29T00:00:00-23:59',
    '1969-12-31T23:30:00-01:00',
    '9999-12-31T23:59:59.999Z',
    '2026-01-01T00:00:00-00:00',
  ],
  bad: [
    '2026-09-04T19:31:07',
    '2026-09-04 19:31:07Z',
    ...[
      '2026-09-04t19:31:07Z 2026-09-04T19:31:07z 2026-09-04T19:31:60Z 2026-09-04T24:00:00Z',
      '2026-09-04T19:60:00Z 2026-02-29T00:00:00Z 2026-09-31T00:00:00Z 2026-13-01T00:00:00Z',
      '2026-00-01T00:00:00Z 2026-09-04T19:31:07+24:00 2026-09-04T19:31:07+02:60 2026-09-04T19:31:07+0200',
      '2026-09-04T19:31:07.Z 2026-09-04T19:31Z 1969-12-31T23:59:59.999Z 1970-01-01T00:30:00+01:00',
      '9999-12-31T23:59:59-00:01 10000-01-01T00:00:00Z 0070-01-01T00:00:00Z 0000-01-01T00:00:00Z',
      '+002026-09-04T19:31:07Z 2026-09-04T19:31:07+02 2026-09-04T19:31:07,5Z 2026-09-00T00:00:00Z',
      '2028-02-30T00:00:00Z 2100-02-29T00:00:00Z 2026-09-04',
    ].flatMap(several => several.split(' ')),
    '',
    ' 2026-09-04T19:31:07Z',
    '2026-09-04T19:31:07Z\n',
    1_788_000_000_000,
    null,
  ],
}
const uuids = {
  good: [
    '7C1E0000-0000-4000-8000-00000000000A',
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '12345678-1234-0234-0234-123456789abc',
  ],
  bad: ['7c1e000000004000800000000000000a', '{7c1e0000-0000-4000-8000-00000000000a}', '', 'g', 7],
}
const outerIds = {
  good: ['!', '~%?#&+"\\', 'A-1', '...', long(64), 'a:b?c#d%e'],
  bad: ['', '.', '..', 'a/b', 'a b', 'é', 'a\u007f', 'a\n', long(65), 7, null],
}
const names = {
  good: ['x', ' e\u0301\u2028 ', long(200), '\u{1f35f}'.repeat(100), 'a\nb'],
  bad: ['', long(201), '\u{1f35f}'.repeat(101), 'a\0', '\ud83c', '\udf5f\ud83c', 7, null],
}
const upTo = (length: number) => ({
  good: ['', ' ', long(length)],
  bad: [long(length + 1), 'a\0', '\ud83c', 7],
})
const absentToo = (rule: { good: unknown[]; bad: unknown[] }) => ({
  good: [...rule.good, null, undefined],
  bad: rule.bad.filter(value => value !== null),
})
const flags = { good: [true, false], bad: ['true', 0, 1, null] }

/** The rules of every field: values that it takes, and values that it refuses. */
export const rules: Record<string, Rule> = {
  'an organization id': { type: 'organizations', fields: field('organizationId'), ...uuids },
  'an event id': { type: 'orders', fields: field('eventId'), ...uuids },
  "an event's organization": { type: 'events', fields: field('organizationId'), ...uuids },
  'a version': { type: 'orders', fields: field('version'), ...versions },
  'an organization name': { type: 'organizations', fields: field('name'), ...names },
  'an organization status': {
    type: 'organizations',
    fields: field('status'),
    good: ['Trial', 'ActiveDayPass', 'Inactive'],
    bad: ['trial', '', null, 'Active'],
  },
  'an event name': { type: 'events', fields: field('name'), ...names },
  'a start date': { type: 'events', fields: field('startDate'), ...instants },
  'a time zone': {
    type: 'events',
    fields: field('timeZone'),
    good: [...'Europe/Rome UTC Etc/GMT+5 US/Pacific Asia/Calcutta EST5EDT Zulu'.split(' '), null, undefined],
    bad: ['+02:00', 'europe/rome', 'Rome', '', 'PST', 'SystemV/EST5', 'CET+1', 2, ' UTC'],
  },
  areas: {
    type: 'events',
    fields: field('areas'),
    good: [[], many(200, areaId => ({ areaId, name: 'x' }))],
    bad: [many(201, areaId => ({ areaId, name: 'x' })), [area, area], null, undefined, {}, [null]],
  },
  'an area id': { type: 'events', fields: areaId => ({ areas: [{ areaId, name: 'x' }] }), ...integers },
  'an area name': { type: 'events', fields: name => ({ areas: [{ ...area, name }] }), ...names },
  days: {
    type: 'events',
    fields: field('days'),
    good: [[], [closed], [open], many(1000, dayId => ({ ...closed, dayId }))],
    bad: [many(1001, dayId => ({ ...closed, dayId })), [open, { ...open, dayId: 9 }], [closed, closed], null],
  },
  'a day id': { type: 'events', fields: dayId => ({ days: [{ ...closed, dayId }] }), ...integers },
  'a date': {
    type: 'events',
    fields: date => ({ days: [{ ...closed, date }] }),
    good: ['2026-09-04', '2028-02-29', '2000-02-29'],
    bad: [
      ...'2026-02-29 2100-02-29 2026-9-4 2026-09-31 2026-00-01 20260904'.split(' '),
      '2026-09-04T00:00:00Z',
      null,
    ],
  },
  'an opening': { type: 'events', fields: openedAt => ({ days: [{ ...open, openedAt }] }), ...instants },
  'a closing': {
    type: 'events',
    fields: closedAt => ({ days: [{ ...open, closedAt }] }),
    good: ['2026-09-05T16:00:00Z', '2026-09-05T18:00:00.001+02:00', null, undefined],
    bad: ['2026-09-05T15:59:59.999Z', '2026-09-05', 7],
  },
  'menu items': {
    type: 'events',
    fields: field('menuItems'),
    good: [[], many(2000, menuItemId => ({ ...menuItem, menuItemId }))],
    bad: [many(2001, menuItemId => ({ ...menuItem, menuItemId })), [menuItem, menuItem], null],
  },
  'a menu item id': {
    type: 'events',
    fields: menuItemId => ({ menuItems: [{ ...menuItem, menuItemId }] }),
    ...integers,
  },
  'a category name': {
    type: 'events',
    fields: categoryName => ({ menuItems: [{ ...menuItem, categoryName }] }),
    good: upTo(200).good,
    bad: [...upTo(200).bad, null, undefined],
  },
  'an order id': { type: 'orders', fields: field('orderId'), ...outerIds },
  'a display order number': { type: 'orders', fields: field('displayOrderNumber'), ...names },
  'an order status': {
    type: 'orders',
    fields: field('status'),
    good: ['PreOrder', 'Pending', 'Paid', 'Preparing', 'ReadyForPickup', 'Completed', 'Cancelled'],
    bad: ['paid', 'Refunded', '', null],
  },
  "an order's area": { type: 'orders', fields: field('areaId'), ...integers },
  "an order's day": { type: 'orders', fields: field('dayId'), ...integers },
  'an order time': { type: 'orders', fields: field('orderDateTime'), ...instants },
  'a payment method': {
    type: 'orders',
    fields: field('paymentMethod'),
    good: upTo(200).good,
    bad: [...upTo(200).bad, null],
  },
  'an amount paid': { type: 'orders', fields: field('amountPaid'), ...signedAmounts },
  'a total amount': { type: 'orders', fields: field('totalAmount'), ...signedAmounts },
  'a takeaway flag': { type: 'orders', fields: field('isTakeaway'), ...flags },
  'a table number': { type: 'orders', fields: field('tableNumber'), ...absentToo(upTo(50)) },
  'order lines': {
    type: 'orders',
    fields: field('items'),
    good: [[], [line, line], many(500, () => ({ ...line, unitPrice: 0 }))],
    bad: [many(501, () => ({ ...line, unitPrice: 0 })), null, undefined, {}],
  },
  "a line's menu item": { type: 'orders', fields: inLine('menuItemId'), ...integers },
  "a line's item name": { type: 'orders', fields: inLine('itemName'), ...names },
  "a line's quantity": {
    type: 'orders',
    fields: inLine('quantity'),
    good: [1, 2.0, 100_000, -1, -100_000],
    bad: [0, -0, 100_001, -100_001, 1.5, -1.5, '1', '-1', null],
  },
  "a line's price": {
    type: 'orders',
    fields: value => ({ items: [{ ...line, quantity: 1, unitPrice: value }] }),
    ...signedAmounts,
  },
  "a line's note": { type: 'orders', fields: inLine('note'), ...absentToo(upTo(1000)) },
  'the sum of the lines': {
    type: 'orders',
    fields: unitPrice => ({
      items: [
        { ...line, quantity: 1, unitPrice },
        { ...line, quantity: 1, unitPrice: 0.01 },
      ],
    }),
    good: [99_999_999.98, -99_999_999.98],
    bad: [99_999_999.99, -99_999_999.99],
  },
  'the sum of lines that give back': {
    type: 'orders',
    fields: quantity => ({
      items: [
        { ...line, quantity, unitPrice: 33_333_333.33 },
        { ...line, quantity: 1, unitPrice: 0.01 },
      ],
    }),
    good: [-1, -2],
    bad: [-3],
  },
  'a refund id': { type: 'refunds', fields: field('refundId'), ...outerIds },
  "a refund's version": { type: 'refunds', fields: field('version'), ...absentToo(versions) },
  "a refund's order": { type: 'refunds', fields: field('orderId'), ...outerIds },
  'a refund time': { type: 'refunds', fields: field('refundedAt'), ...instants },
  'a refund amount': { type: 'refunds', fields: amount => ({ amount, lines: [] }), ...amounts },
  'refund lines': {
    type: 'refunds',
    fields: field('lines'),
    good: [
      null,
      undefined,
      [],
      many(500, () => ({ ...refundLine, amount: 0 })),
      [0.1, 0.2, 12.21].map(amount => ({ ...refundLine, amount })),
      [0.01, 99_999_999.98].map(amount => ({ ...refundLine, amount })),
    ],
    bad: [
      many(501, () => ({ ...refundLine, amount: 0 })),
      [0.01, 99_999_999.99].map(amount => ({ ...refundLine, amount })),
      {},
    ],
  },
  "a refund line's quantity": {
    type: 'refunds',
    fields: quantity => ({ lines: [{ ...refundLine, quantity }] }),
    good: [1, 100_000],
    bad: [0, -1, 100_001, 0.5, null],
  },
  "a refund line's amount": {
    type: 'refunds',
    fields: amount => ({ lines: [{ ...refundLine, amount }] }),
    ...amounts,
  },
}
