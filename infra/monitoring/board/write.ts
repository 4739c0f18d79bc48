import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { board } from './board.ts'

// `npm run board`.
writeFileSync(join(import.meta.dirname, '../board.json'), `${JSON.stringify(board(), null, 2)}\n`)
