import { itemCounts, type StoredEvent } from '@tally/figures'
import { planDay } from '../views/question.ts'
import { answerEvent, type Handler } from './handler.ts'

/** The items must be on the event's menu, else 404 (docs/api.md, Endpoints). */
export const getItemCounts: Handler<'getItemCounts'> = {
  early: true,
  read: (readers, asked) =>
    answerEvent(readers, asked, event => {
      const { dayId, menuItemIds } = asked.query
      if (menuItemIds !== undefined && !hasItems(event, menuItemIds)) return undefined
      return planDay(event, 'items', {
        query: { dayId },
        key: `counts:${menuItemIds?.join(',') ?? ''}`,
        toData: items => JSON.stringify(itemCounts(items, event, menuItemIds)),
        whenNoDay: '[]',
      })
    }),
}

function hasItems({ menuItems }: StoredEvent, asked: number[]): boolean {
  const onMenu = new Set<number>(menuItems.map(({ menuItemId }) => menuItemId))
  return asked.every(id => onMenu.has(id))
}
