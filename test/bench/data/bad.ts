import type { TestRecord } from '@tally/testkit/processes/tally'
import type { Random } from '@tally/testkit/random'

/** What a bad record has in the place of its JSON. */
export type BadValue = Buffer | string

/** Ways in which an order becomes no JSON at all: some the decoder sees at once, of some only the parser knows. */
const notJson: Record<string, (order: TestRecord['value'], random: Random) => BadValue> = {
  'cut off': (order, random) => {
    const json = JSON.stringify(order)
    return json.slice(0, random.whole(1, json.length - 1))
  },
  'a comma too many': order => JSON.stringify(order).replace(/}$/, ',}'),
  'plain text': ({ orderId }) => `Order ${orderId} is in the kitchen`,
  'an empty value': () => '',
  'not UTF-8': order => Buffer.from(JSON.stringify(order).replace('Menu', 'Menù'), 'latin1'),
}

/** Values each of which breaks the schema of an order. */
const wrongFields: Record<string, unknown> = {
  version: 0,
  status: 'Eaten',
  areaId: 'bar',
  dayId: 1.5,
  orderDateTime: 'tomorrow',
  amountPaid: '12,50',
  totalAmount: 0.005,
  isTakeaway: 'no',
  tableNumber: 7,
  items: [1, 2, 3].map(menuItemId => ({ menuItemId, itemName: '', quantity: 0.5, unitPrice: 0.005 })),
}

/** What a broken till sends in the place of an order: half of it no JSON, half JSON with two to four wrong fields. */
export function badValue(order: TestRecord['value'], random: Random): BadValue {
  if (random.chance(0.5)) return random.of(Object.values(notJson))(order, random)
  const wrong = random.shuffled(Object.entries(wrongFields)).slice(0, random.whole(2, 4))
  return JSON.stringify({ ...order, ...Object.fromEntries(wrong) })
}
