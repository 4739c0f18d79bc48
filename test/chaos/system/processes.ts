import { endOfLog } from '#infra/servers/process.ts'
import { type Service, startService } from './service.ts'

type Environment = Record<string, string>

export type Processes = {
  projectors: Service[]
  queries: Service[]
  /** Starts another one; `env`: its different settings. */
  startProjector: (env?: Environment) => Promise<Service>
  startQuery: (env?: Environment) => Promise<Service>
  /** Starts or ends (SIGTERM) projectors until this many run. */
  scaleTo: (projectors: number) => Promise<void>
}

type Options = {
  env: Environment
  folder: string
  /** Called with each process that was started and how to end it. */
  onRelease: (release: () => Promise<unknown> | unknown) => void
  /** Called with a sentence about a process that ended unexpectedly. */
  onDeath: (message: string) => void
}

/** Starts and counts Tally's processes of a system; one that has ended is no longer in its list. */
export function openProcesses({ env, folder, onRelease, onDeath }: Options): Processes {
  let started = 0
  const start = async (command: 'projector' | 'query', among: Service[], own: Environment = {}) => {
    const name = `${command}-${++started}`
    const service = await startService(command, { name, env: { ...env, ...own }, folder })
    onRelease(() => (service.hasEnded() ? undefined : service.end('SIGTERM')))
    void service.ended.then(how => {
      const index = among.indexOf(service)
      if (index >= 0) among.splice(index, 1)
      if (!service.isUnwanted()) onDeath(`${name} ended by itself (${how}):\n${endOfLog(service.logFile, 5)}`)
    })
    among.push(service)
    return service
  }
  const processes: Processes = {
    projectors: [],
    queries: [],
    startProjector: own => start('projector', processes.projectors, own),
    startQuery: own => start('query', processes.queries, own),
    async scaleTo(count) {
      const surplus = processes.projectors.slice(count)
      const missing = Math.max(0, count - processes.projectors.length)
      await Promise.all([
        ...surplus.map(projector => projector.end('SIGTERM')),
        ...Array.from({ length: missing }, () => processes.startProjector()),
      ])
    },
  }
  return processes
}
