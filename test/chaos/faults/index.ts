import type { Fault } from '../run/fault.ts'
import { clockFaults } from './clocks.ts'
import { frozenFaults } from './frozen.ts'
import { linkFaults } from './links.ts'
import { lockFaults } from './locks.ts'
import { lostCommitFaults } from './lostCommits.ts'
import { nameFaults } from './names.ts'
import { poisonFaults } from './poison.ts'
import { postgresFaults } from './postgres.ts'
import { projectorFaults } from './projectors.ts'
import { queryFaults } from './queries.ts'
import { redisFaults } from './redis.ts'
import { redisFullFaults } from './redisFull.ts'
import { redisKeyFaults } from './redisKeys.ts'
import { serverFaults } from './servers.ts'
import { transactionFaults } from './transactions.ts'
import { undecodableFaults } from './undecodable.ts'

/** Every kind of fault; a new kind is an entry in one of these files. */
const all: Fault[] = [
  ...projectorFaults,
  ...queryFaults,
  ...serverFaults,
  ...redisFaults,
  ...postgresFaults,
  ...linkFaults,
  ...nameFaults,
  ...clockFaults,
  ...frozenFaults,
  ...lockFaults,
  ...transactionFaults,
  ...redisKeyFaults,
  ...redisFullFaults,
  ...lostCommitFaults,
  ...poisonFaults,
  ...undecodableFaults,
]

/** Kinds that Tally does not withstand yet: only `--pending` injects them. Take one out when it does. */
const pending = new Set<string>()

export const faults = all.filter(({ name }) => !pending.has(name))
export const pendingFaults = all.filter(({ name }) => pending.has(name))
