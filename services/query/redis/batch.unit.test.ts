import { expect, test } from 'vitest'
import { Waiter } from './batch.ts'

test('a reply goes to those that asked for the promise before and after', async () => {
  const waiter = new Waiter<number | undefined>()
  const before = waiter.promise
  waiter.resolve(7)
  waiter.resolve(8)
  waiter.reject(new Error('late'))
  expect(waiter.reply).toBe(7)
  expect(await Promise.all([before, waiter.promise])).toEqual([7, 7])
})

test('an error rejects the promise, and leaves no reply', async () => {
  const waiter = new Waiter<number>()
  const before = waiter.promise
  waiter.reject(new Error('gone'))
  waiter.resolve(7)
  expect(waiter.reply).toBeUndefined()
  await expect(before).rejects.toThrow('gone')
  await expect(waiter.promise).rejects.toThrow('gone')
})

test('an error without a waiter causes no unhandled rejection', async () => {
  new Waiter<number>().reject(new Error('gone'))
  await new Promise(setImmediate)
})
