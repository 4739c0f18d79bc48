import type { Command } from 'commander'
import { addCreate } from './create.ts'
import { addList } from './list.ts'
import { addRemove } from './remove.ts'
import { addReset } from './reset.ts'

export function addAdministrators(program: Command): void {
  const administrators = program
    .command('administrators')
    .description('manage who can sign in to the administration area')
  for (const add of [addCreate, addList, addReset, addRemove]) add(administrators)
}
