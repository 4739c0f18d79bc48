import type { Tally, TestRecord } from '../processes/tally.ts'
import type { Festival } from '../records/festival.ts'
import { oracle } from './oracle.ts'
import { expectAllAnswers, getWhenFree } from './questions.ts'

export type Scenario = {
  token: string
  /** The `data` of a path below the festival's, or the status if it is not 200. */
  // biome-ignore lint/suspicious/noExplicitAny: data of any endpoint
  data: (path: string) => Promise<any>
}

/** Sends a festival's records, in `waves`, compares every answer with the oracle's, and returns a way to ask more. */
export async function runScenario(
  tally: Tally,
  festival: Festival,
  ...waves: TestRecord[][]
): Promise<Scenario> {
  const [first = [], ...later] = waves
  const known = [festival.organization(), ...first]
  await tally.count(known)
  const token = await tally.key(festival.organizationId)
  const compare = () => expectAllAnswers(tally, festival.eventId, oracle(known), token)
  if (known.some(({ type }) => type === 'events')) await compare()
  for (const wave of later) {
    known.push(...wave)
    await tally.count(wave)
    await compare()
  }
  return {
    token,
    async data(path) {
      const { status, body } = await getWhenFree(tally, `${festival.path}${path}`, token)
      return status === 200 ? body.data : status
    },
  }
}
