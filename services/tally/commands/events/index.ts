import type { Command } from 'commander'
import { addList } from './list.ts'
import { addRemove } from './remove.ts'

export function addEvents(program: Command): void {
  const events = program.command('events').description('list organizations and events; remove old events')
  for (const add of [addList, addRemove]) add(events)
}
