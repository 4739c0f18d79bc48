import type { EventId } from '@tally/contract'
import { expect, test } from 'vitest'
import { Backlog } from './backlog.ts'

const ids = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `e${from + i}` as EventId)
const markOf = (topic: string, partition = 3) => ({ topic, partition, since: 0, revision: 9 })

/** Publishes everything. Returns the number of events, and the topics of the marks in the order of their rise. */
function drain(backlog: Backlog): { events: number; marks: string[] } {
  const drained = { events: 0, marks: [] as string[] }
  for (let piece = backlog.next(); piece !== undefined; piece = backlog.next()) {
    drained.events += piece.pending.events.size
    drained.marks.push(...[...piece.pending.marks.values()].map(({ topic }) => topic))
    piece.done([])
  }
  return drained
}

test('several marks of one shard publish its events once', () => {
  const backlog = new Backlog()
  for (const topic of ['events', 'orders', 'refunds'])
    backlog.add({ events: ids(50), organizations: [], mark: markOf(topic) })
  backlog.add({ events: ids(50, 100), organizations: [], mark: markOf('orders', 4) })
  expect(backlog.holds(markOf('refunds'))).toBe(true)
  expect(drain(backlog)).toEqual({ events: 100, marks: ['events', 'orders', 'refunds', 'orders'] })
  expect(backlog.holds(markOf('refunds'))).toBe(false)
})

test('a mark that is added after the publication of its shard has begun publishes its events again', () => {
  const backlog = new Backlog()
  backlog.add({ events: ids(50), organizations: [], mark: markOf('events') })
  backlog.next()?.done([])
  backlog.add({ events: ids(50), organizations: [], mark: markOf('orders') })
  expect(drain(backlog)).toEqual({ events: 30 + 50, marks: ['events', 'orders'] })
})

test('a mark that was published meanwhile extends a waiting one only if they touch', () => {
  const [backlog, mark] = [new Backlog(), markOf('orders')]
  backlog.add({ events: [], organizations: [], mark })
  for (const revision of [12, 20]) backlog.extend([{ ...mark, since: revision - 3, revision }], [])
  expect(backlog.next()?.pending.marks.get('orders:3')).toEqual({ ...mark, revision: 12 })
})

test('an event that is waiting is not added twice, but one that is being published is', () => {
  const backlog = new Backlog()
  backlog.add({ events: ids(50), organizations: [] })
  backlog.add({ events: ids(60), organizations: [] })
  backlog.next()
  backlog.add({ events: ids(60), organizations: [] })
  expect(drain(backlog).events).toBe(60 + 20)
})
