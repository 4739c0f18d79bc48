import type { Command } from 'commander'
import { addAccept } from './accept.ts'
import { addList } from './list.ts'
import { addSkip } from './skip.ts'

export function addOffsets(program: Command): void {
  const offsets = program
    .command('offsets')
    .description('show how far each partition is applied; skip records that are gone or cannot be read')
  for (const add of [addList, addAccept, addSkip]) add(offsets)
}
