import type { Count } from '../data/count.ts'
import type { Question } from '../run/wrk.ts'
import type { RunningTally } from './tally.ts'

/** What devices poll, with the keys of the events' organizations: four questions for each event, in their order. */
export const questionsOf = (tally: RunningTally, count: Count): Question[] =>
  count.eventIds().flatMap(eventId =>
    count.polledAnswers(eventId).map(({ path }) => ({
      path: new URL(tally.addressOf(eventId)).pathname + path,
      token: tally.tokenOf(eventId),
    })),
  )
