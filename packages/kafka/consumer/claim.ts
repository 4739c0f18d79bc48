import type { Assignment } from '../types.ts'

/** Which partitions a member of the group has, those that it has had longest first, and since which generation. */
export type Claim = { generation: number; partitions: Assignment }

/** The claim after a join: partitions that were kept stay in their order, new ones follow. */
export function nextClaim(before: Claim | undefined, generation: number, assigned: Assignment): Claim {
  const partitions = new Map(
    [...assigned].map(([topic, now]) => {
      const kept = (before?.partitions.get(topic) ?? []).filter(partition => now.includes(partition))
      const added = now.filter(partition => !kept.includes(partition)).toSorted((a, b) => a - b)
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
