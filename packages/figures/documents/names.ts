/** The kinds of documents that a (day, area) has. */
export const views = ['kpis', 'hours', 'items', 'payments'] as const
export type View = (typeof views)[number]

/** The name of one document among those of its event: `items:42:0` is day 42, all areas. */
export type DocumentName = `${View}:${number}:${number}`
export function documentName(view: View, dayId: number, areaId: number): DocumentName {
  return `${view}:${dayId}:${areaId}`
}
