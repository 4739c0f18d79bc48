import type { RecordType } from './decode.ts'

const festival = '7c1e0000-0000-4000-8000-000000000001'
const proLoco = '0b5a0000-0000-4000-8000-000000000001'

/** A valid record of each type: the examples of docs/records.md. */
export const recordExamples = {
  organizations: { organizationId: proLoco, version: 3, name: 'Pro Loco San Vito', status: 'ActiveDayPass' },
  events: {
    eventId: festival,
    organizationId: proLoco,
    version: 12,
    name: 'Sagra del Pesce',
    startDate: '2026-09-04T16:00:00Z',
    timeZone: 'Europe/Rome',
    areas: [
      { areaId: 1, name: 'Kitchen' },
      { areaId: 2, name: 'Bar' },
    ],
    days: [
      { dayId: 41, date: '2026-09-04', openedAt: '2026-09-04T16:00:00Z', closedAt: '2026-09-05T00:10:00Z' },
      { dayId: 42, date: '2026-09-05', openedAt: '2026-09-05T16:00:00Z', closedAt: null },
    ],
    menuItems: [{ menuItemId: 7, name: 'Fritto misto', categoryName: 'Fish' }],
  },
  orders: {
    eventId: festival,
    orderId: 'A-20260904-000123',
    version: 2,
    displayOrderNumber: '123',
    status: 'Paid',
    areaId: 1,
    dayId: 41,
    orderDateTime: '2026-09-04T19:31:07Z',
    paymentMethod: 'Cash',
    amountPaid: 30,
    totalAmount: 27.5,
    isTakeaway: false,
    tableNumber: '12',
    items: [
      { menuItemId: 7, itemName: 'Fritto misto', quantity: 2, unitPrice: 12.5, note: null },
      { menuItemId: 9, itemName: 'Acqua', quantity: 1, unitPrice: 2.5, note: 'cold' },
    ],
  },
  refunds: {
    eventId: festival,
    refundId: 'R-77',
    version: 1,
    orderId: 'A-20260904-000123',
    refundedAt: '2026-09-04T20:02:00Z',
    amount: 12.5,
    lines: [{ menuItemId: 7, quantity: 1, amount: 12.5 }],
  },
} satisfies Record<RecordType, object>
