import { composeEvent } from '@tally/core'
import { compose } from '../views/composed.ts'
import { endpointRead } from './endpoint.ts'
import { answerEvent } from './eventAnswer.ts'

export const getEvent = endpointRead({
  name: 'getEvent',
  early: true,
  read: (readers, asked) =>
    answerEvent(readers, asked, event => ({
      key: 'event',
      needs: [],
      compose: () => compose(composeEvent(event)),
    })),
})
