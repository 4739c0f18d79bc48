import { createLogger } from '@tally/platform'
import { expect, test, vi } from 'vitest'
import { createAttempts } from './attempts.ts'

function openHarness() {
  const logger = createLogger('test', 'silent')
  const logged = vi.spyOn(logger, 'error')
  const attempt = createAttempts({ metrics: { failures: { inc() {} } } as never, logger })
  return { attempt, logged }
}
const succeed = async () => {}
const fail = async () => {
  throw new TypeError('a bug')
}

test('an error that repeats is logged once, even if other steps succeed in between', async () => {
  const { attempt, logged } = openHarness()
  for (let tick = 0; tick < 3; tick++) {
    await attempt('read', succeed)
    expect(await attempt('update Redis', fail)).toBe(false)
  }
  expect(logged).toHaveBeenCalledTimes(1)
})

test('an error that returns after its step has succeeded is logged again', async () => {
  const { attempt, logged } = openHarness()
  await attempt('update Redis', fail)
  expect(await attempt('update Redis', succeed)).toBe(true)
  await attempt('update Redis', fail)
  expect(logged).toHaveBeenCalledTimes(2)
})

test('the error of a step says what is amiss, also if it is that of another step', async () => {
  const { attempt, logged } = openHarness()
  await attempt('raise asOf', fail)
  await attempt('measure', fail)
  expect(logged.mock.calls.map(([, sentence]) => sentence)).toEqual([
    'a step of the watch fails, and waiting does not resolve it: asOf may stand still; trying again',
    'a step of the watch fails, and waiting does not resolve it: the metrics of what organizations take are not renewed; trying again',
  ])
})
