import type { EventId } from '@tally/contract'
import { allAreas, composeDocuments, documentName } from '@tally/figures'
import { expect } from 'vitest'
import type { Tally, TestRecord } from '../processes/tally.ts'
import type { Festival } from '../records/festival.ts'
import type { EventOracle } from './event.ts'
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
      if (festival.organizationId === organizationId) {
        await expectAllAnswers(tally, festival.eventId, expected, token)
        await expectPayments(tally, festival.eventId as EventId, expected.event(festival.eventId))
      } else expect((await tally.get(festival.path, { token })).status).toBe(404)
    }
  }
}

/** Compares the payment methods of each day and area, which the administration area shows and no endpoint answers. */
async function expectPayments({ database }: Tally, eventId: EventId, expected: EventOracle): Promise<void> {
  const documents = (await composeDocuments(database.db, { events: [eventId] }, ['payments'])).get(eventId)
  for (const dayId of expected.dayIds) {
    for (const areaId of [undefined, ...expected.areaIds]) {
      const document = documents?.get(documentName('payments', dayId, areaId ?? allAreas))
      expect(JSON.parse(document ?? '[]')).toEqual(expected.payments({ dayId, areaId }))
    }
  }
}
