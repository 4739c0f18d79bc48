import { type Assignment, partitionKey } from '../types.ts'

/** A member of the group; a new one, and one of a version without claims, has no claim. */
type Member = { id: string; claim?: Claim | undefined }

/** A member while topics are assigned: `size` is how many partitions it has so far. */
type Place = { id: string; assignment: Assignment; size: number }

/**
 * Spreads partitions over the members of the group. The topics with the most partitions are the co-partitioned ones:
 * partition p of each of them, a shard, goes to the same member, so that one projector sees an event with its orders
 * and refunds. Partitions of smaller topics (organizations) are spread one by one. Every member gets an assignment,
 * possibly an empty one.
 *
 * Members differ by at most one shard, and keep what they claim as far as that allows: see `spread`.
 */
export function assignShards(
  members: Member[],
  partitionCounts: Map<string, number>,
): Map<string, Assignment> {
  const places = members
    .map(({ id }): Place => ({ id, assignment: new Map(), size: 0 }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const claimed = claimedBy(members)
  const assign = (topics: string[], count: number): void => {
    const [first = ''] = topics
    for (const [place, partitions] of spread(count, places, place => claimed(place.id, first))) {
      for (const topic of topics) place.assignment.set(topic, partitions)
      place.size += partitions.length * topics.length
    }
  }
  const shards = Math.max(0, ...partitionCounts.values())
  const sharded = [...partitionCounts].filter(([, count]) => count === shards).map(([topic]) => topic)
  assign(sharded, shards)
  for (const [topic, count] of partitionCounts) if (count < shards) assign([topic], count)
  return new Map(places.map(({ id, assignment }) => [id, assignment]))
}

/**
 * Spreads partitions 0 to `count` - 1 evenly. A place that claims more than its share keeps those that it has had
 * longest. So if a projector restarts, the others take its partitions, and give up the same ones when it is back: no
 * other partition moves. Places that claim most, then those with the fewest partitions, get one more if the number does
 * not come out even.
 */
function spread(count: number, places: Place[], claimed: (by: Place) => number[]): [Place, number[]][] {
  const wishes = places
    .map(place => ({ place, wanted: claimed(place).filter(partition => partition < count) }))
    .toSorted((a, b) => b.wanted.length - a.wanted.length || a.place.size - b.place.size)
  const shares = wishes.map(({ place, wanted }, index) => {
    const share = Math.floor(count / places.length) + (index < count % places.length ? 1 : 0)
    return { place, partitions: wanted.slice(0, share), share }
  })
  const kept = new Set(shares.flatMap(({ partitions }) => partitions))
  const roomOf = ({ share, partitions }: (typeof shares)[number]): number => share - partitions.length
  for (let partition = 0; partition < count; partition++) {
    if (kept.has(partition)) continue
    const roomiest = shares.reduce((a, b) => (roomOf(b) > roomOf(a) ? b : a))
    roomiest.partitions.push(partition)
  }
  return shares.filter(({ partitions }) => partitions.length > 0).map(one => [one.place, one.partitions])
}

/**
 * Returns a function from a member and a topic to the partitions that it claims. If two members claim a partition, the
 * claim of the later generation counts: the other one lost the partition without noticing.
 */
function claimedBy(members: Member[]): (id: string, topic: string) => number[] {
  const owners = new Map<string, string>()
  const earliestFirst = members.toSorted((a, b) => (a.claim?.generation ?? 0) - (b.claim?.generation ?? 0))
  for (const { id, claim } of earliestFirst)
    for (const [topic, partitions] of claim?.partitions ?? [])
      for (const partition of partitions) owners.set(partitionKey({ topic, partition }), id)
  const claims = new Map(members.map(({ id, claim }) => [id, claim]))
  return (id, topic) =>
    (claims.get(id)?.partitions.get(topic) ?? []).filter(
      partition => owners.get(partitionKey({ topic, partition })) === id,
    )
}

/** Which partitions a member of the group has, those that it has had longest first, and since which generation. */
export type Claim = { generation: number; partitions: Assignment }

/** The claim after a join: partitions that were kept stay in their order, new ones follow. */
export function nextClaim(before: Claim | undefined, generation: number, assigned: Assignment): Claim {
  const partitions = new Map(
    [...assigned].map(([topic, now]) => {
      const kept = (before?.partitions.get(topic) ?? []).filter(partition => now.includes(partition))
      const added = now.filter(partition => !kept.includes(partition))
      return [topic, [...kept, ...added]]
    }),
  )
  return { generation, partitions }
}

/** A claim as the user data of a member's metadata. */
export function encodeClaim(claim: Claim | undefined): Buffer {
  if (claim === undefined) return Buffer.alloc(0)
  const partitions = Object.fromEntries(claim.partitions)
  return Buffer.from(JSON.stringify({ generation: claim.generation, partitions }))
}

/** The claim in a member's user data; undefined if it has none that this version can read. */
export function decodeClaim(userData: Buffer | null): Claim | undefined {
  try {
    const { generation, partitions } = JSON.parse(String(userData)) as Record<string, unknown>
    const lists = Object.entries(partitions as object)
    const isRead = Number.isInteger(generation) && lists.every(([, list]) => list.every(Number.isInteger))
    return isRead ? { generation: generation as number, partitions: new Map(lists) } : undefined
  } catch {
    return undefined
  }
}
