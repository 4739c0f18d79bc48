import { randomFrom } from '@tally/testkit/random'
import type { Festival } from '@tally/testkit/records/festival'

/** How the characters of a large record are written, and so how large it is (docs/records.md, Values). */
export type Writing = {
  how: string
  /** A text of this many characters. */
  text: (characters: number) => string
  toJson: (value: object) => string
}

/** Texts in which no two characters in a row repeat, so that a codec makes little of them. */
function randomText(first: number, last: number): Writing['text'] {
  const random = randomFrom(1, 'text')
  return characters =>
    String.fromCharCode(...Array.from({ length: characters }, () => random.whole(first, last)))
}

const chinese = randomText(0x4e00, 0x9fff)

/** As Python's json.dumps writes them by default. */
const escaped = (value: object): string =>
  JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

export const writings = {
  twoBytes: { how: 'with characters of two bytes', text: randomText(0xc0, 0x17f), toJson: JSON.stringify },
  threeBytes: { how: 'with characters of three bytes', text: chinese, toJson: JSON.stringify },
  escaped: { how: 'with escaped characters', text: chinese, toJson: escaped },
} satisfies Record<string, Writing>

const listOf = <Entry>(length: number, entry: (id: number) => Entry): Entry[] =>
  Array.from({ length }, (_, index) => entry(index + 1))

/** The largest event that docs/records.md allows: all lists and names as long as they may be. */
export function largestEvent(festival: Festival, text: Writing['text']) {
  const dateOf = (dayId: number) => new Date(Date.UTC(2026, 0, dayId)).toISOString().slice(0, 10)
  return festival.event({
    name: text(200),
    areas: listOf(200, areaId => ({ areaId, name: text(200) })),
    days: listOf(1_000, dayId => ({
      dayId,
      date: dateOf(dayId),
      openedAt: `${dateOf(dayId)}T16:00:00.000+02:00`,
      closedAt: `${dateOf(dayId)}T23:59:59.999+02:00`,
    })),
    menuItems: listOf(2_000, menuItemId => ({ menuItemId, name: text(200), categoryName: text(200) })),
  })
}

/** The largest order that docs/records.md allows. */
export function largestOrder(festival: Festival, text: Writing['text']) {
  return festival.order({
    displayOrderNumber: text(200),
    paymentMethod: text(200),
    tableNumber: text(50),
    items: listOf(500, menuItemId => ({
      ...{ menuItemId, itemName: text(200), note: text(1_000) },
      ...{ quantity: 1, unitPrice: 1 },
    })),
  })
}
