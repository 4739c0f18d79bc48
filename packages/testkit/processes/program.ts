import { join } from 'node:path'

/** The executable of `tally`. */
export const program = join(import.meta.dirname, '../../../services/tally/bin/tally')

/** Where Node keeps what it has compiled for the tests' processes. */
export const compiledFolder = join(import.meta.dirname, '../../../.local/compiled')
