import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createGate } from './gate.ts'
import { createSharedReads } from './sharedReads.ts'

const useReads = (mostMs = 60_000) =>
  createSharedReads(createGate({ places: 4, placesOfOne: 4, waitingOfOne: 4, waitMs: 60_000 }), {
    afterMs: 20,
    mostMs,
  })

test('those who ask during a read, even if it fails, share the next one, which waits for as long as a slow one took', async () => {
  const reads = useReads()
  const times: { began: number; ended: number; asked: number[] }[] = []
  const ask = (number: number) =>
    reads.share('one', 'page', number, async asked => {
      const began = performance.now()
      await sleep(50)
      times.push({ began, ended: performance.now(), asked })
      if (asked.includes(1)) throw new Error('a defect')
    })
  const results = await Promise.allSettled([ask(1), ask(2), ask(3)])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])

  const [slow, next] = times as [(typeof times)[0], (typeof times)[0]]
  expect([slow.asked, next.asked]).toEqual([[1], [2, 3]])
  // A timer may be a millisecond early.
  expect(next.began - slow.ended).toBeGreaterThan(slow.ended - slow.began - 2)
})

test('after a read that hung, the next one waits for a part of that time; who asked meanwhile gets its error', async () => {
  const reads = useReads(400)
  let ended = 0
  const hung = reads.share('one', 'page', 0, async () => {
    await sleep(1_000)
    ended = performance.now()
    throw new Error('Query read timeout')
  })
  const next = () => reads.share('one', 'page', 0, async () => performance.now())
  const meanwhile = next()
  await Promise.all([hung, meanwhile].map(read => expect(read).rejects.toThrow('Query read timeout')))
  expect((await next()) - ended).toBeLessThan(800)
})

test('another question waits for none of them', async () => {
  const reads = useReads()
  const order: string[] = []
  const slow = reads.share('one', 'slow', 0, () => sleep(50))
  const again = reads.share('one', 'slow', 0, async () => order.push('again'))
  await slow
  await reads.share('one', 'other', 0, async () => order.push('other'))
  await again
  expect(order).toEqual(['other', 'again'])
})
