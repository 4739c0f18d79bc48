import type { Command } from 'commander'
import { addService } from './service.ts'

export function addQuery(program: Command): void {
  addService(program, {
    name: 'query',
    description: 'run one query process, which answers the v1 API, in the foreground',
    load: async () => (await import('@tally/query')).startQuery,
  })
}
