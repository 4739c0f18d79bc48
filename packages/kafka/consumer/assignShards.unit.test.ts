import { expect, test } from 'vitest'
import { assignShards, type Claim, decodeClaim, encodeClaim, nextClaim } from './assignShards.ts'

const topics = new Map([
  ['tally.organizations', 1],
  ['tally.events', 6],
  ['tally.orders', 6],
  ['tally.refunds', 6],
])

const of = (members: string[], counts = topics) =>
  assignShards(
    members.map(id => ({ id })),
    counts,
  )

/** A consumer group whose members claim what they have; each change of its members is a generation. */
function group(counts: Map<string, number>) {
  const claims = new Map<string, Claim | undefined>()
  let generation = 0
  /** Who has each shard, and how often it has moved to another member. */
  const owners = new Map<number, string>()
  const moves = new Map<number, number>()
  const rebalance = () => {
    generation++
    const members = [...claims].map(([id, claim]) => ({ id, claim: decodeClaim(encodeClaim(claim)) }))
    const assigned = assignShards(members, counts)
    for (const [id, assignment] of assigned) {
      claims.set(id, nextClaim(claims.get(id), generation, assignment))
      for (const shard of assignment.get('tally.events') ?? []) {
        if (owners.has(shard) && owners.get(shard) !== id) moves.set(shard, (moves.get(shard) ?? 0) + 1)
        owners.set(shard, id)
      }
    }
    return assigned
  }
  return {
    moves,
    join(id: string) {
      claims.set(id, undefined)
      return rebalance()
    },
    leave(id: string) {
      claims.delete(id)
      return rebalance()
    },
    claimOf: (id: string) => claims.get(id),
  }
}

const thirty = new Map([
  ['tally.organizations', 1],
  ['tally.events', 30],
  ['tally.orders', 30],
  ['tally.refunds', 30],
])
const five = ['p1', 'p2', 'p3', 'p4', 'p5']
const sizes = (assigned: Map<string, Map<string, number[]>>) =>
  [...assigned.values()].map(assignment => assignment.get('tally.events')?.length ?? 0).toSorted()

test('a restart moves only the shards of the projector that restarts, and back', () => {
  const { join, leave, moves } = group(thirty)
  for (const id of five) join(id)
  moves.clear()
  leave('p3')
  expect(moves.size).toBe(6)
  const assigned = join('another id')
  expect(sizes(assigned)).toEqual([6, 6, 6, 6, 6])
  expect([...moves.values()]).toEqual(Array(6).fill(2))
})

test.for([
  ['stopped first', 30, 2],
  ['started first', 30, 2],
  // Shards that do not come out even stay with who took them, and move with them.
  ['stopped first', 33, 3],
  ['started first', 33, 2],
] as const)(
  'five projectors restarted one by one, each %s: none of %i shards moves more than %i times',
  ([which, shards, most]) => {
    const counts = new Map([...thirty].map(([topic, count]) => [topic, count === 30 ? shards : count]))
    const { join, leave, moves } = group(counts)
    for (const id of five) join(id)
    moves.clear()
    let assigned = new Map<string, Map<string, number[]>>()
    for (const id of five) {
      if (which === 'stopped first') leave(id)
      // Ids of members are random: they sort before and after the others'.
      assigned = join(`${id === 'p2' ? 'a' : 'z'}-new-${id}`)
      if (which === 'started first') assigned = leave(id)
    }
    expect(Math.max(...sizes(assigned)) - Math.min(...sizes(assigned))).toBeLessThanOrEqual(1)
    expect(Math.max(...moves.values())).toBeLessThanOrEqual(most)
  },
)

test('members of a version that claims nothing, in one group with others, move no shard of those', () => {
  const { join, leave, moves, claimOf } = group(thirty)
  for (const id of five) join(id)
  moves.clear()
  const before = claimOf('p1')?.partitions.get('tally.events')
  const members = [{ id: 'old' }, ...five.slice(0, 4).map(id => ({ id, claim: claimOf(id) }))]
  expect(assignShards(members, thirty).get('p1')?.get('tally.events')).toEqual(before)
  expect(leave('p5').size).toBe(4)
})

test('of two claims to a shard the one of the later generation counts, and none to a shard that is gone', () => {
  const claiming = (id: string, generation: number, shards: number[]) => ({
    id,
    claim: { generation, partitions: new Map([['orders', shards]]) },
  })
  for (const stale of ['a', 'c']) {
    const members = [claiming('b', 5, [2, 1, 0]), claiming(stale, 4, [1])]
    const assigned = assignShards(members, new Map([['orders', 2]]))
    expect(assigned.get('b')?.get('orders')).toEqual([1])
    expect(assigned.get(stale)?.get('orders')).toEqual([0])
  }
})

test('user data that cannot be read as a claim counts as none', () => {
  const notClaims = ['', '{', 'null', '[]', '{"generation":1}', '{"generation":1,"partitions":{"t":["a"]}}']
  for (const text of notClaims) expect(decodeClaim(Buffer.from(text))).toBeUndefined()
})

test('partitions that were added are spread, and the others stay', () => {
  const { join, claimOf } = group(topics)
  for (const id of ['a', 'b', 'c']) join(id)
  const more = new Map([...topics].map(([topic, count]) => [topic, count === 6 ? 9 : count]))
  const members = ['a', 'b', 'c'].map(id => ({ id, claim: claimOf(id) }))
  for (const { id, claim } of members) {
    const now = assignShards(members, more).get(id)?.get('tally.orders')
    expect(now?.slice(0, 2)).toEqual(claim?.partitions.get('tally.orders'))
    expect(now).toHaveLength(3)
  }
})

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

test('the order in which members are named does not matter', () => {
  expect(of(['c', 'a', 'b'])).toEqual(of(['a', 'b', 'c']))
})

test('with one partition each all topics go to one member', () => {
  const assigned = of(['a', 'b'], new Map([...topics.keys()].map(topic => [topic, 1])))
  expect(assigned.get('a')?.size).toBe(4)
  expect(assigned.get('b')).toEqual(new Map())
})
