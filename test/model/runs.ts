/** A search: the model with switches (protocol.pml lists them), and what it has to find. */
export type Run = {
  name: string
  /** What the run checks, in a sentence. */
  about: string
  switches: string[]
  /** The property that this rule breaks; absent if the search must find nothing. */
  violates?: string
  /** Whether it is part of `npm test`. */
  isShort?: boolean
  /** A short one with millions of states, of which an optimized search saves more than its compiler takes. */
  isLarge?: boolean
  /** Too large to keep every state: Spin keeps a few bits of each (bitstate hashing) and may miss some; 7 minutes. */
  isSampled?: boolean
}

const lacks = 'an answer lacks a record acknowledged before its asOf'
const bounds = (losses: number, rollbacks: number, moves: number, ...others: string[]) => [
  `LOSSES=${losses}`,
  `ROLLBACKS=${rollbacks}`,
  `MOVES=${moves}`,
  ...others,
]

/** The rules in force: a search must find nothing. */
const inForce: Run[] = [
  {
    name: 'loss-rollback',
    about: 'Postgres loses commits, and a Redis key goes back',
    switches: bounds(1, 1, 0),
    isShort: true,
  },
  {
    name: 'loss-frozen',
    about: 'Postgres loses commits, and a frozen projector wakes up',
    switches: bounds(1, 0, 1),
    isShort: true,
    isLarge: true,
  },
  {
    name: 'revisions',
    about: 'as loss-rollback, with repair by query processes; what each revision stands for is remembered',
    switches: bounds(1, 1, 0, 'REPAIR', 'TRACK'),
    isShort: true,
  },
  {
    name: 'transaction',
    about: "another producer's open transaction, and Postgres loses commits",
    switches: bounds(1, 0, 0, 'TRANSACTIONS=1', 'RECORDS=3'),
    isShort: true,
  },
  {
    name: 'memory',
    about: 'Postgres loses commits, and query processes remember what they said',
    switches: bounds(1, 0, 0, 'MEMORY'),
    isShort: true,
  },
  {
    name: 'rollback-frozen',
    about: 'a Redis key goes back, and a frozen projector wakes up',
    switches: bounds(0, 1, 1),
  },
  {
    name: 'two-rollbacks',
    about: 'Postgres loses commits, and two Redis keys go back, or one twice',
    switches: bounds(1, 2, 0),
  },
  {
    name: 'two-losses',
    about: 'Postgres loses commits twice, and a Redis key goes back',
    switches: bounds(2, 1, 0),
  },
  {
    name: 'two-events',
    about: 'two events share the hash of their shard, and Redis keys go back',
    switches: bounds(0, 2, 0, 'EVENTS=2', 'RECORDS=3'),
  },
  {
    name: 'memory-rollback',
    about: 'as loss-rollback, and query processes remember what they said',
    switches: bounds(1, 1, 0, 'MEMORY'),
  },
  {
    name: 'all',
    about:
      'Postgres loses commits, a Redis key goes back, a frozen projector wakes up, a query process remembers',
    switches: bounds(1, 1, 1, 'MEMORY'),
    isSampled: true,
  },
]

/** Former rules, one per run: the model refutes them. */
const ofBefore: Run[] = [
  {
    name: 'old-revisions',
    about: 'revisions that go back with Postgres',
    switches: ['OLD_REVISIONS', 'TRACK', ...bounds(1, 0, 0)],
    violates: 'a revision stands for two contents',
    isShort: true,
  },
  {
    name: 'old-healing',
    about: 'revisions that go back, and healing that believes the mark: documents freeze',
    switches: ['OLD_REVISIONS', 'NO_QUERIES', ...bounds(1, 0, 0, 'RECORDS=3')],
    violates: 'faults stopped, and a document in Redis stays wrong',
    isShort: true,
  },
  {
    name: 'old-watch',
    about: 'a watch that does not compare stored with applied offsets: an idle partition stays behind',
    switches: ['OLD_WATCH', 'NO_QUERIES', ...bounds(1, 0, 0)],
    violates: 'faults stopped, and Postgres stays behind',
    isShort: true,
  },
  {
    name: 'old-read',
    about: "a document of an older state is answered with the shard's fresh asOf",
    switches: ['OLD_READ', 'NO_SETTLING', ...bounds(0, 1, 0)],
    violates: lacks,
    isShort: true,
  },
  {
    name: 'old-mark',
    about: 'healing by the mark alone: a document that went back by itself stays old',
    switches: ['OLD_READ', 'NO_QUERIES', ...bounds(0, 1, 0)],
    violates: 'faults stopped, and a document in Redis stays wrong',
    isShort: true,
  },
  {
    name: 'old-ends',
    about: 'asOf from the last stable offset, with a transaction open',
    switches: ['OLD_ENDS', ...bounds(0, 0, 0, 'TRANSACTIONS=1', 'RECORDS=3')],
    violates: lacks,
    isShort: true,
  },
  {
    name: 'old-said',
    about: 'an answer from Postgres gets the later of its asOf and what the process said before',
    switches: ['OLD_SAID', 'MEMORY', ...bounds(1, 0, 0)],
    violates: lacks,
    isShort: true,
  },
]

/** Rules that were planned first, and that the model refuted. */
const planned: Run[] = [
  {
    name: 'planned-raise',
    about: 'asOf in Redis is raised without checking the mark in the same hash',
    switches: ['DRAFT_RAISE', ...bounds(0, 2, 0)],
    violates: lacks,
    isShort: true,
  },
  {
    name: 'planned-frozen',
    about:
      'asOf is raised by a mark that was read before; no fault but a projector that goes on after its eviction',
    switches: ['DRAFT_RAISE', ...bounds(0, 0, 1)],
    violates: lacks,
    isShort: true,
  },
  {
    name: 'planned-takeover',
    about: 'a new epoch lowers asOf to the earlier of both instead of removing it',
    switches: ['DRAFT_TAKEOVER', ...bounds(1, 2, 0)],
    violates: lacks,
  },
  {
    name: 'planned-advance',
    about: 'the mark is advanced without the epoch of what was published',
    switches: ['DRAFT_ADVANCE', ...bounds(1, 1, 0)],
    violates: lacks,
  },
  {
    name: 'planned-pieces',
    about: 'what was published is noted in two commands, of which only the second raises the mark',
    switches: ['DRAFT_PIECES', ...bounds(0, 2, 0, 'EVENTS=2', 'RECORDS=3')],
    violates: lacks,
  },
]

export const runs: Run[] = [...inForce, ...ofBefore, ...planned]
