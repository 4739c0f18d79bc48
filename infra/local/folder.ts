import { join } from 'node:path'

/** A folder of this checkout for data, logs and reports; git ignores it. */
export const localFolder = (name: string): string => join(import.meta.dirname, '../../.local', name)
