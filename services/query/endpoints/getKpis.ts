import { noSales } from '@tally/core'
import { planDay } from '../views/question.ts'
import { endpointRead } from './endpoint.ts'
import { answerEvent } from './eventAnswer.ts'

/** Every number is 0 if no day can be resolved (docs/api.md, Answers). */
export const getKpis = endpointRead({
  name: 'getKpis',
  early: true,
  read: (readers, asked) =>
    answerEvent(readers, asked, event =>
      planDay(event, 'kpis', {
        query: asked.query,
        key: 'kpis',
        toData: JSON.stringify,
        whenNoDay: JSON.stringify(noSales),
      }),
    ),
})
