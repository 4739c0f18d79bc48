import { expect } from 'vitest'
import type { Tally, TestRecord } from '../processes/tally.ts'
import type { Festival } from '../records/festival.ts'
import { oracle } from './oracle.ts'
import { expectAllAnswers } from './questions.ts'

/** Compares every answer about every festival of a season, and both lists of events, with the oracle. */
export async function expectSeason(
  tally: Tally,
  festivals: Festival[],
  records: TestRecord[],
): Promise<void> {
  const expected = oracle(records)
  for (const organizationId of new Set(festivals.map(festival => festival.organizationId))) {
    const token = await tally.key(organizationId)
    const { body } = await tally.get('/api/v1/events', { token })
    expect(body.data).toEqual(expected.listEvents(organizationId))
    for (const festival of festivals) {
      if (festival.organizationId === organizationId)
        await expectAllAnswers(tally, festival.eventId, expected, token)
      else expect((await tally.get(festival.path, { token })).status).toBe(404)
    }
  }
}
