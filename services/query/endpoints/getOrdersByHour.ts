import { planDay } from '../views/question.ts'
import { endpointRead } from './endpoint.ts'
import { answerEvent } from './eventAnswer.ts'

export const getOrdersByHour = endpointRead({
  name: 'getOrdersByHour',
  early: true,
  read: (readers, asked) =>
    answerEvent(readers, asked, event =>
      planDay(event, 'hours', { query: asked.query, key: 'hours', toData: JSON.stringify, whenNoDay: '[]' }),
    ),
})
