import { expect, onTestFinished, test, vi } from 'vitest'
import { createFailedAuthenticationThrottle } from './failedAuthentications.ts'

test('of the failed authentications in each second, those after the first 50 wait', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const fail = createFailedAuthenticationThrottle()
  const waiting = () => Array.from({ length: 52 }, () => fail()).filter(wait => wait !== undefined)
  expect(waiting()).toHaveLength(2)
  vi.advanceTimersByTime(1_000)
  expect(waiting()).toHaveLength(2)
})
