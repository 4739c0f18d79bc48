import { itemCounts } from '@tally/core'
import { planDay } from '../views/question.ts'
import { endpointRead } from './endpoint.ts'
import { answerEvent } from './eventAnswer.ts'

/** Items asked for must be on the event's menu, else 404 (public-api-v1.md 4.7). */
export const getItemCounts = endpointRead({
  name: 'getItemCounts',
  early: true,
  read: (readers, asked) =>
    answerEvent(readers, asked, event => {
      const { dayId, menuItemIds } = asked.query
      const onMenu = new Set<number>(event.menuItems.map(({ menuItemId }) => menuItemId))
      if (menuItemIds?.some(id => !onMenu.has(id))) return undefined
      return planDay(event, 'items', {
        query: { dayId },
        key: `counts:${menuItemIds?.join(',') ?? ''}`,
        toData: items => JSON.stringify(itemCounts(items, event, menuItemIds)),
        whenNoDay: '[]',
      })
    }),
})
