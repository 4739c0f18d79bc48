import type { Festival } from '@tally/testkit/records/festival'

/** Records of which every id and every name is this festival's alone, and an order `same` that others have too. */
export function ownRecords(festival: Festival, id: number, name: string) {
  const days = [{ dayId: id, date: '2026-09-04', openedAt: '2026-09-04T16:00:00Z', closedAt: null }]
  const menuItems = [{ menuItemId: id, name, categoryName: name }]
  const items = [{ menuItemId: id, itemName: name, quantity: id, unitPrice: 1 }]
  const of = { displayOrderNumber: name, tableNumber: name, dayId: id, areaId: id, items }
  return [
    festival.organization(),
    festival.event({ name, days, menuItems, areas: [{ areaId: id, name }] }),
    ...[`order-${id}`, 'same'].map(orderId => festival.order({ orderId, ...of })),
  ]
}
