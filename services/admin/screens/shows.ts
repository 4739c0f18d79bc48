/** What a screen link can show; each has a name, and a sentence for whoever chooses. */
export const shownNames = {
  money: {
    name: 'Money and best sellers',
    hint: 'Takings, orders by hour and best sellers. Everyone in the hall can read them.',
  },
  portions: {
    name: 'Portions, no money',
    hint: 'How many of each item were sold, and in the last 10 minutes, without returns and vouchers.',
  },
  kitchen: {
    name: 'Kitchen: items of one area',
    hint: 'The same for one area, such as a kitchen or a bar. No money.',
  },
} as const
export type Shows = keyof typeof shownNames

export const showsOf = (text: string): Shows | undefined =>
  Object.hasOwn(shownNames, text) ? (text as Shows) : undefined

/** What a link shows, in a list and in the audit trail; `area` is the name of a kitchen's area. */
export const shownText = (shows: Shows, area: string | undefined): string =>
  area === undefined ? shownNames[shows].name : `Kitchen: items of ${area}`

/** An area that the event no longer lists is named by its id, as items are. */
export const areaName = ({ areas }: { areas: { areaId: number; name: string }[] }, areaId: number): string =>
  areas.find(area => area.areaId === areaId)?.name ?? `Area ${areaId}`
