import { expect, test } from 'vitest'
import { assignShards } from './shardAssigner.ts'

const topics = new Map([
  ['tally.organizations', 1],
  ['tally.events', 6],
  ['tally.orders', 6],
  ['tally.refunds', 6],
])

const of = (members: string[], counts = topics) => assignShards(members, counts)

test('a shard of the co-partitioned topics goes to one member', () => {
  for (const assignment of of(['b', 'a', 'c', 'd']).values()) {
    expect(assignment.get('tally.orders')).toEqual(assignment.get('tally.events'))
    expect(assignment.get('tally.refunds')).toEqual(assignment.get('tally.events'))
  }
})

test('each partition goes to exactly one member, whatever their number', () => {
  for (let members = 1; members <= 9; members++) {
    const ids = Array.from({ length: members }, (_, i) => `m${i}`)
    for (const [topic, count] of topics) {
      const given = [...of(ids).values()].flatMap(assignment => assignment.get(topic) ?? [])
      expect(given.sort()).toEqual(Array.from({ length: count }, (_, i) => i))
    }
  }
})

test('members get as many shards as the others, or one less, and the organizations go to one that has the fewest', () => {
  const shards = [...of(['a', 'b', 'c', 'd']).values()].map(
    assignment => assignment.get('tally.events')?.length,
  )
  expect(shards).toEqual([2, 2, 1, 1])
  expect(of(['a', 'b', 'c', 'd']).get('c')?.get('tally.organizations')).toEqual([0])
})

test('a member without a partition gets an empty assignment', () => {
  const assigned = of(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
  expect(assigned.get('h')).toEqual(new Map())
  expect(assigned.size).toBe(8)
})

test('the order in which members are named does not matter', () => {
  expect(of(['c', 'a', 'b'])).toEqual(of(['a', 'b', 'c']))
})

test('with one partition each all topics go to one member', () => {
  const assigned = of(['a', 'b'], new Map([...topics.keys()].map(topic => [topic, 1])))
  expect(assigned.get('a')?.size).toBe(4)
  expect(assigned.get('b')).toEqual(new Map())
})
