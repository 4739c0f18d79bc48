import { type EventId, type Order, type OrganizationId, offsetIn } from '@tally/contract'
import { asOfField, publishEvents } from '@tally/publication'
import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder } from '@tally/testkit/records/decoded'
import { type Fixture, newEvent } from '../../services/admin/test/fixture.ts'

/** 52 items of seven categories, one in Hebrew, and one with a name that no screen has room for. */
const categories = {
  Antipasti: 'Affettati misti|Bruschetta|Sarde in saor|פלאפל בפיתה|Formaggi e mostarda',
  Primi:
    'Spaghetti alle vongole|Gnocchi al ragù|Pasta e fagioli|Bigoli in salsa|Risotto ai frutti di mare|Lasagne|Tagliatelle al ragù di cinghiale|Crespelle',
  'Secondi di pesce':
    'Fritto misto|Calamari alla griglia|Seppie con polenta|Baccalà alla vicentina|Orata|Grigliata di pesce|Zuppa di cozze',
  'Secondi di carne':
    'Costicine|Salsiccia con polenta|Frico|Grigliata mista|Pollo allo spiedo|Burger|Cheeseburger|Piatto della casa con salsiccia, costicine, pollo, polenta, verdure grigliate e una bibita a scelta',
  Contorni: 'Patatine fritte|Polenta|Fagioli|Insalata mista|Verdure grigliate|Peperonata',
  Dolci: 'Tiramisù|Crostata|Frittelle|Gubana|Sorbetto al limone|Panna cotta',
  Bibite:
    'Acqua naturale|Acqua frizzante|Birra chiara 0,4 l|Birra rossa 0,4 l|Vino bianco|Vino rosso|Spritz|Aranciata|Coca-Cola|Caffè|Caffè corretto|Amaro',
}
const menuItems = Object.entries(categories)
  .flatMap(([categoryName, names]) => names.split('|').map(name => ({ categoryName, name })))
  .map((item, index) => ({ ...item, menuItemId: index + 1 }))

/** The one name that may end with an ellipsis. */
export const longName = menuItems.map(({ name }) => name).find(name => name.length > 50) ?? ''

const areas = [
  { areaId: 1, name: 'Cucina del padiglione' },
  { areaId: 2, name: 'Bar' },
]

const hourMs = 3_600_000
/** Orders of the last hours, the latest first. */
const ordersOfHours = [38, 61, 44, 17]

/** The first publication of a shard begins its hash. Counted up to an hour from now, as long as these tests run. */
export async function beginShard({ deps: { redis, keys, topicPrefix } }: Fixture): Promise<void> {
  await redis.hset(keys.shard(0), asOfField(`${topicPrefix}.events`), Date.now() + hourMs)
}

/** An event that has sold its whole menu in the last hours of an evening. */
export async function sellMenu(
  fixture: Fixture,
  { organizationId }: { organizationId: OrganizationId },
): Promise<EventId> {
  const now = Date.now()
  const timeZone = zoneOfEvening(now)
  const date = new Date(now + offsetIn(timeZone)(now)).toISOString().slice(0, 10)
  const days = [{ dayId: 41, date, openedAt: now - 4 * hourMs, closedAt: null }]
  const name = 'Sagra del Pesce di Marano Lagunare 2026'
  const eventId = await newEvent(fixture, organizationId, { name, timeZone, days, areas, menuItems })
  await countNewOrders(fixture.db, eveningOrders(eventId, now))
  await publishEvents(fixture.deps, new Map([[eventId, { whole: true }]]))
  await beginShard(fixture)
  return eventId
}

/** Sells 1,017 of the first item in the kitchen. */
export async function sellMore(fixture: Fixture, eventId: EventId): Promise<void> {
  const items = [{ menuItemId: 1, itemName: 'x', quantity: 1_017, unitPrice: 2 }]
  const orderDateTime = new Date().toISOString()
  const order = anOrder({ eventId, dayId: 41, areaId: 1, orderId: 'more', orderDateTime, items })
  await countNewOrders(fixture.db, [order])
  await publishEvents(fixture.deps, new Map([[eventId, { whole: true }]]))
}

/** A time zone in which it is between 21:00 and 22:00 now: an evening, as a picture should show. */
function zoneOfEvening(nowMs: number): string {
  const ahead = ((21 - new Date(nowMs).getUTCHours() + 36) % 24) - 12
  // The names have the sign of POSIX.
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
}

/** Orders of six items each, until each item was sold. */
function eveningOrders(eventId: EventId, nowMs: number): Order[] {
  return ordersOfHours.flatMap((count, hoursAgo) =>
    Array.from({ length: count }, (_, order) => {
      const items = Array.from({ length: 6 }, (_, line) => lineOf(order * 7 + line * 11 + hoursAgo, order))
      return anOrder({
        eventId,
        dayId: 41,
        areaId: 1 + (order % 2),
        orderId: `${hoursAgo}-${order}`,
        orderDateTime: new Date(nowMs - hoursAgo * hourMs).toISOString(),
        totalAmount: items.reduce((sum, { quantity, unitPrice }) => sum + quantity * unitPrice, 0),
        items,
      })
    }),
  )
}

function lineOf(place: number, order: number) {
  const { menuItemId = 1, name = '' } = menuItems[place % menuItems.length] ?? {}
  return {
    menuItemId,
    itemName: name,
    // Of one item, more than 10,000: no column may be too narrow.
    quantity: 1 + ((order * menuItemId) % 4) + (name === 'Acqua naturale' ? 1_000 : 0),
    unitPrice: 2 + (menuItemId % 7) * 1.5,
  }
}
