import { randomFrom } from '@tally/testkit/random'

export type Deck<Kind> = { seed: number; count: number; kinds: Kind[]; piece?: Piece | undefined }
/** `number` of `of` pieces, from 1, that share one deck. */
export type Piece = { number: number; of: number }

/** All kinds, shuffled, repeated up to this many faults; returns the share of one piece of the run. */
export function deckOf<Kind>({ seed, count, kinds, piece = { number: 1, of: 1 } }: Deck<Kind>): Kind[] {
  if (kinds.length === 0) throw new Error('no kind of fault is left; --list names them')
  const random = randomFrom(seed, 'deck')
  const deck: Kind[] = []
  while (deck.length < count) deck.push(...random.shuffled(kinds))
  return deck.slice(0, count).filter((_, index) => index % piece.of === piece.number - 1)
}
