import { join } from 'node:path'

/** The executable of `tally`. */
export const program = join(import.meta.dirname, '../../../services/tally/bin/tally')
