import { simulate } from '@tally/feed'
import { oracle } from '@tally/testkit/oracle/oracle'
import { questionsOf } from '@tally/testkit/oracle/questions'
import type { TestRecord } from '@tally/testkit/processes/tally'
import { expect, test } from 'vitest'
import { openBook } from './book.ts'

test('the quick count says what the oracle says', () => {
  const records = [...simulate({ seed: 3, orders: 150, evenings: 2, date: '2026-08-18' })].map(
    ({ topic, key, value }): TestRecord => ({ type: topic, key, value: JSON.parse(value ?? '') }),
  )
  const book = openBook()
  for (const record of records.toReversed()) book.add(record)
  const expected = oracle(records)
  let compared = 0
  for (const eventId of expected.eventIds) {
    const base = `/api/v1/events/${eventId}`
    const questions = new Map(
      questionsOf(eventId, expected.event(eventId)).map(question => [question.path, question]),
    )
    for (const { path, data } of book.answers(eventId)) {
      const question = questions.get(base + path)
      if (question === undefined) continue
      expect({ path, data }).toEqual({ path, data: question.data })
      compared++
    }
    const limit = 2
    const rows = book
      .answers(eventId)
      .find(({ path }) => path === `/analytics/orders/top-items?limit=100`)?.data
    expect((rows as unknown[]).slice(0, limit)).toEqual(expected.event(eventId).topItems({}, limit))
    const page = book.answers(eventId).find(({ path }) => path === '/orders?pageSize=100&page=1')?.data
    expect(page).toEqual(expected.event(eventId).orders({}).slice(0, 100))
  }
  expect(compared).toBeGreaterThan(100)
})
