import type { Command } from 'commander'
import { addCheck } from './check.ts'

export function addRecords(program: Command): void {
  const records = program.command('records').description('records that a producer sends')
  addCheck(records)
}
