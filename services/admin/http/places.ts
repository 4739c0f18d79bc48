/** Counts the places that each owner has taken, in this process; one owner may stand for all of them. */
export function createPlaces() {
  const taken = new Map<string, number>()
  const add = (owner: string, by: number) => {
    const count = (taken.get(owner) ?? 0) + by
    if (count === 0) taken.delete(owner)
    else taken.set(owner, count)
  }
  const of = (owner: string) => taken.get(owner) ?? 0

  return {
    of,
    /** Takes a place of each owner, and returns what gives them back; undefined if one of them has its most. */
    take(owners: [owner: string, most: number][]): (() => void) | undefined {
      if (owners.some(([owner, most]) => of(owner) >= most)) return undefined
      for (const [owner] of owners) add(owner, 1)
      return () => {
        for (const [owner] of owners) add(owner, -1)
      }
    },
  }
}
