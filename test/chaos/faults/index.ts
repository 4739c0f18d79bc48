import type { Fault } from '../run/fault.ts'
import { clockFaults } from './clocks.ts'
import { frozenFaults } from './frozen.ts'
import { linkFaults } from './links.ts'
import { lostCommitFaults } from './lostCommits.ts'
import { poisonFaults } from './poison.ts'
import { processFaults } from './processes.ts'
import { redisFaults } from './redis.ts'
import { redisKeyFaults } from './redisKeys.ts'
import { serverFaults } from './servers.ts'
import { sessionFaults } from './sessions.ts'
import { undecodableFaults } from './undecodable.ts'

/** Every kind of fault; a new kind is an entry in one of these files. */
export const faults: Fault[] = [
  ...processFaults,
  ...serverFaults,
  ...redisFaults,
  ...linkFaults,
  ...clockFaults,
  ...frozenFaults,
  ...sessionFaults,
  ...redisKeyFaults,
  ...lostCommitFaults,
  ...poisonFaults,
  ...undecodableFaults,
]
