import type { Command } from 'commander'
import { addService } from './service.ts'

export function addAdmin(program: Command): void {
  addService(program, {
    name: 'admin',
    description: 'run the administration area (API keys, live sales) in the foreground',
    load: async () => (await import('@tally/admin')).startAdmin,
  })
}
