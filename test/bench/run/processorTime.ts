import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from './bench.ts'

/** Of Linux, whatever its kernel: `getconf CLK_TCK`. */
const ticksPerSecond = 100

/** Milliseconds of processor time by part. */
export type ProcessorTime = Record<string, number>

/**
 * The processor time that Kafka, Postgres, Redis and these processes have taken so far, with their child processes. For
 * Linux.
 */
export function processorTime({ folder }: Bench, pids: Record<string, number[]>): ProcessorTime {
  const processes = readProcesses()
  const ofServer = (name: string) => {
    const data = join(folder, 'data', name)
    const isOfServer = (pid: number) => processes.get(pid)?.command.includes(data)
    const own = [...processes.keys()].filter(isOfServer)
    // The one that started the others.
    return own.filter(pid => !isOfServer(processes.get(pid)?.parent ?? 0))
  }
  const parts = {
    ...pids,
    Postgres: ofServer('postgres'),
    Redis: ofServer('redis'),
    Kafka: ofServer('kafka'),
  }
  return Object.fromEntries(
    Object.entries(parts).map(([part, roots]) => [part, sum(roots.map(root => treeOf(processes, root)))]),
  )
}

/** What the parts took between two readings. */
export const between = (before: ProcessorTime, after: ProcessorTime): ProcessorTime =>
  Object.fromEntries(Object.entries(after).map(([part, ms]) => [part, ms - (before[part] ?? 0)]))

type Process = { parent: number; command: string; ms: number }

function readProcesses(): Map<number, Process> {
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return new Map(
    pids.flatMap(pid => {
      try {
        const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=\S )/)
        const fields = rest.split(' ')
        // utime and stime, with those of ended children (proc_pid_stat(5)).
        const ticks = sum(fields.slice(11, 15).map(Number))
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return [[Number(pid), { parent: Number(fields[1]), command, ms: (ticks * 1000) / ticksPerSecond }]]
      } catch {
        // It has ended meanwhile.
        return []
      }
    }),
  )
}

function treeOf(processes: Map<number, Process>, root: number): number {
  const children = [...processes].filter(([, { parent }]) => parent === root).map(([pid]) => pid)
  return (processes.get(root)?.ms ?? 0) + sum(children.map(pid => treeOf(processes, pid)))
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
