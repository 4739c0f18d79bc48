import type { Festival } from '../festivals/festival.ts'
import { addDays, localTime, timestampOf } from './localTime.ts'
import { uuidFrom } from './random.ts'

/** An event lists at most 1,000 days (docs/records.md, Event); a longer feed begins the next event. */
const daysPerEvent = 1000

/**
 * Grows with every change of what an evening holds. Part of the events' ids, because records of before have the ids and
 * versions of today's, and say something else (docs/records.md, Which record wins).
 */
export const simulationRevision = 4

/** The last dish is handed over, and the last refund made, within this time after last orders. */
const clearingMinutes = 90

/** One day of one festival: its event and its hours, in milliseconds since 1970. */
export type FestivalDay = {
  festival: Festival
  eventId: string
  dayId: number
  date: string
  opensMs: number
  lastOrdersMs: number
  closesMs: number
}

/**
 * What makes one run of the feed differ from another; `orders` are those of one evening over all festivals.
 * Different runs have different events, because the ids of their orders would collide otherwise.
 */
export type Run = { seed: number; date: string; orders: number }

/** The day of `festival` in an evening, counted from 0 since the run's date (YYYY-MM-DD). */
export function festivalDay(festival: Festival, run: Run, evening: number): FestivalDay {
  const date = addDays(run.date, evening)
  const at = (clock: string, more = 0) => localTime(date, minutesOf(clock) + more, festival.timeZone)
  const edition = Math.floor(evening / daysPerEvent)
  return {
    festival,
    eventId: uuidFrom(
      `event ${simulationRevision} ${run.seed} ${run.date} ${run.orders} ${festival.organizationId} ${edition}`,
    ),
    dayId: (evening % daysPerEvent) + 1,
    date,
    opensMs: at(festival.opens),
    lastOrdersMs: at(festival.lastOrders),
    closesMs: at(festival.lastOrders, clearingMinutes),
  }
}

/**
 * The event with its days up to and including this evening's, which is open or closed: every day takes two
 * versions of the event (docs/records.md, Event).
 */
export function eventRecord(festival: Festival, run: Run, evening: number, state: 'open' | 'closed') {
  const firstEvening = evening - (evening % daysPerEvent)
  const first = festivalDay(festival, run, firstEvening)
  const dayCount = evening - firstEvening + 1
  const days = Array.from({ length: dayCount }, (_, index) =>
    festivalDay(festival, run, firstEvening + index),
  )
  return {
    eventId: first.eventId,
    organizationId: festival.organizationId,
    version: 2 * dayCount - (state === 'open' ? 1 : 0),
    // Said in its name, because its clock is not that of who looks at its figures.
    name: `${festival.eventName} ${first.date.slice(0, 4)} (simulated)`,
    startDate: timestampOf(first.opensMs),
    timeZone: festival.timeZone,
    areas: festival.areas.map(({ areaId, name }) => ({ areaId, name })),
    days: days.map(({ dayId, date, opensMs, closesMs }) => ({
      dayId,
      date,
      openedAt: timestampOf(opensMs),
      closedAt: dayId < dayCount || state === 'closed' ? timestampOf(closesMs) : null,
    })),
    menuItems: menuItems(festival).map(({ menuItemId, name, categoryName }) => ({
      menuItemId,
      name,
      categoryName,
    })),
  }
}

/** The record of a festival's organization; it never changes. */
export function organizationRecord({ organizationId, organizationName, organizationStatus }: Festival) {
  return { organizationId, version: 1, name: organizationName, status: organizationStatus }
}

export type MenuItem = {
  menuItemId: number
  name: string
  categoryName: string
  cents: number
  weight: number
  soldAt: readonly number[]
}

/**
 * The menu as a flat list, and after it the deposit, the item of cups that come back, and the voucher, which no area
 * sells by themselves; ids count from 1 in this order.
 */
export function menuItems({ menu, deposit, voucher }: Festival): MenuItem[] {
  const sold = menu.flatMap(({ name: categoryName, soldAt, dishes }) =>
    dishes.map(([name, cents, weight]) => ({ name, categoryName, cents, weight, soldAt })),
  )
  const returned = deposit?.returnedAs === undefined ? null : { ...deposit, name: deposit.returnedAs }
  const added = [deposit, returned, voucher]
    .filter(item => item !== null)
    .map(({ name, categoryName, cents }) => ({ name, categoryName, cents, weight: 0, soldAt: [] }))
  return [...sold, ...added].map((item, index) => ({ menuItemId: index + 1, ...item }))
}

/** `HH:MM` as minutes after midnight; `25:30` is half past one of the next day. */
export function minutesOf(clock: string): number {
  return Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))
}
