import { topItems } from '@tally/core'
import { planDay } from '../views/question.ts'
import { endpointRead } from './endpoint.ts'
import { answerEvent } from './eventAnswer.ts'

export const getTopItems = endpointRead({
  name: 'getTopItems',
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
})
