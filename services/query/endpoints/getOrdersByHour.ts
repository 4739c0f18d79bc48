import { hourFields } from '@tally/contract'
import { planDay } from '../views/question.ts'
import { answerEvent, type Handler } from './handler.ts'

export const getOrdersByHour: Handler<'getOrdersByHour'> = {
  early: true,
  read: (readers, asked) =>
    answerEvent(readers, asked, event =>
      planDay(event, 'hours', {
        query: asked.query,
        key: 'hours',
        toData: hours => JSON.stringify(hours, hourFields),
        whenNoDay: '[]',
      }),
    ),
}
