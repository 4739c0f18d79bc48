import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createWhyFatal } from './consumer.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const isMissing = Object.assign(new Error('it is not there'), { type: 'UNKNOWN_TOPIC_OR_PARTITION' })

test('a topic that is missing for a minute ends the consumer; one that was there in between does not', async () => {
  const there = new Map([['a', 1]])
  const whyFatal = createWhyFatal(['a', 'b'], async () => there)
  expect(await whyFatal(isMissing, 10)).toBeUndefined()

  // It is made, and deleted again two minutes later.
  vi.advanceTimersByTime(120_000)
  expect(await whyFatal(isMissing, 119_000)).toBeUndefined()
  vi.advanceTimersByTime(59_000)
  expect(await whyFatal(isMissing, 10)).toBeUndefined()
  vi.advanceTimersByTime(2_000)
  expect((await whyFatal(isMissing, 10))?.message).toBe('the topic b is not there: run `tally topics create`')
  there.set('b', 1)
  expect(await whyFatal(isMissing, 10)).toBeUndefined()
})
