import type { Command } from 'commander'
import { addCreate } from './create.ts'
import { addList } from './list.ts'
import { addRevoke } from './revoke.ts'

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('keys of the API')
  for (const add of [addCreate, addList, addRevoke]) add(keys)
}
