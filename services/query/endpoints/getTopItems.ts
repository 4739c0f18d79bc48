import { topItems } from '@tally/figures'
import { planDay } from '../views/question.ts'
import { answerEvent, type Handler } from './handler.ts'

export const getTopItems: Handler<'getTopItems'> = {
  early: true,
  read: (readers, asked) =>
    answerEvent(readers, asked, event =>
      planDay(event, 'items', {
        query: asked.query,
        key: `top:${asked.query.limit}`,
        toData: items => JSON.stringify(topItems(items, event, asked.query.limit)),
        whenNoDay: '[]',
      }),
    ),
}
