import type { Command } from 'commander'
import { addList } from './list.ts'
import { addReplay } from './replay.ts'
import { addShow } from './show.ts'

export function addDeadLetters(program: Command): void {
  const deadLetters = program.command('dead-letters').description('list, show and replay rejected records')
  for (const add of [addList, addShow, addReplay]) add(deadLetters)
}
