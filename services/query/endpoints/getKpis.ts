import { kpisFields } from '@tally/contract'
import { noSales } from '@tally/figures'
import { planDay } from '../views/question.ts'
import { answerEvent, type Handler } from './handler.ts'

/** Every number is 0 if no day can be resolved (docs/api.md, Answers). */
export const getKpis: Handler<'getKpis'> = {
  early: true,
  read: (readers, asked) =>
    answerEvent(readers, asked, event =>
      planDay(event, 'kpis', {
        query: asked.query,
        key: 'kpis',
        toData: kpis => JSON.stringify(kpis, kpisFields),
        whenNoDay: JSON.stringify(noSales),
      }),
    ),
}
