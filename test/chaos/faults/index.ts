import type { Fault } from '../fault.ts'
import { linkFaults } from './links.ts'
import { postgresFaults } from './postgres.ts'
import { projectorFaults } from './projectors.ts'
import { queryFaults } from './queries.ts'
import { redisFaults } from './redis.ts'
import { serverFaults } from './servers.ts'

/** Every kind of fault; a new kind is an entry in one of these files. */
export const faults: Fault[] = [
  ...projectorFaults,
  ...queryFaults,
  ...serverFaults,
  ...redisFaults,
  ...postgresFaults,
  ...linkFaults,
]
