import type { Fault } from '../fault.ts'
import { linkFaults } from './links.ts'
import { postgresFaults } from './postgres.ts'
import { projectorFaults } from './projectors.ts'
import { queryFaults } from './queries.ts'
import { redisFaults } from './redis.ts'
import { serverFaults } from './servers.ts'

/** Every kind of fault; a new kind is an entry in one of these files. */
const all: Fault[] = [
  ...projectorFaults,
  ...queryFaults,
  ...serverFaults,
  ...redisFaults,
  ...postgresFaults,
  ...linkFaults,
]

/** Names of kinds that Tally does not hold against yet: only `--pending` injects them. Take a name out when it does. */
const pending = new Set<string>([])

export const faults = all.filter(({ name }) => !pending.has(name))
export const pendingFaults = all.filter(({ name }) => pending.has(name))
