import { composeEvent } from '@tally/figures'
import { compose } from '../http/answer.ts'
import { answerEvent, type Handler } from './handler.ts'

export const getEvent: Handler<'getEvent'> = {
  early: true,
  read: (readers, asked) =>
    answerEvent(readers, asked, event => ({
      key: 'event',
      needs: [],
      compose: () => compose(composeEvent(event)),
    })),
}
