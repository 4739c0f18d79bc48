import type { Command } from 'commander'
import { addService } from './service.ts'

export function addProjector(program: Command): void {
  addService(program, {
    name: 'projector',
    description: 'run one projector in the foreground',
    load: async () => (await import('@tally/projector')).startProjector,
  })
}
