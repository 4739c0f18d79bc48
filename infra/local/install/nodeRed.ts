import { join } from 'node:path'
import { npmPackages } from './npmPackages.ts'

/** The folder whose node_modules hold Node-RED's runtime and its nodes, without the editor (237 packages, 79 MB). */
export const nodeRedFolder = (log: (line: string) => void): Promise<string> =>
  npmPackages('node-red', join(import.meta.dirname, 'nodeRed'), log)
