import type { OrganizationId } from '@tally/contract'
import { expect, test } from 'vitest'
import { Overloaded } from '../postgres/gate.ts'
import { createEventList } from './eventList.ts'

/** Asks for a list while Redis hangs and Postgres fails with this error; returns whether Redis was given more time. */
async function isReliedOn(error: Error): Promise<boolean> {
  let isRelied = false
  const list = createEventList({
    breaker: {
      attempt: async () => undefined,
      forceClosed() {
        isRelied = true
      },
    },
    shared: { share: () => Promise.reject(error) },
    onFailure() {},
  } as unknown as Parameters<typeof createEventList>[0])
  await expect(list.read('o' as OrganizationId, Promise.resolve())).rejects.toThrow()
  return isRelied
}

test('a list of events waits longer for Redis if Postgres is down, not if it is only busy or the read has a defect', async () => {
  expect(await isReliedOn(new Error('Connection terminated'))).toBe(true)
  for (const error of [new Overloaded(), new RangeError('a defect')])
    expect(await isReliedOn(error)).toBe(false)
})
