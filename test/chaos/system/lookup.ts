// Loaded into Tally's processes in a fault run (`--import`, see names.ts), never into the run itself: `*.lan` are names
// of this machine, as if a name server said so, and one that is switched off fails as with a name server that is away.

import dns from 'node:dns'
import { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Options = { all?: boolean; family?: unknown }
type Answer = (error: Error | null, address?: unknown, family?: number) => void

const folder = new URL(import.meta.url).searchParams.get('folder') ?? '.'
const address = '127.0.0.1'
const isOurs = (name: string) => name.endsWith('.lan')

function failureOf(name: string): Error | null {
  if (!existsSync(`${folder}/${name}`)) return null
  const known = { errno: -3001, code: 'EAI_AGAIN', syscall: 'getaddrinfo', hostname: name }
  return Object.assign(new Error(`getaddrinfo EAI_AGAIN ${name}`), known)
}

const real = dns.lookup
const realPromise = dns.promises.lookup
dns.lookup = ((name: string, ...rest: [Options | number | Answer, Answer?]) => {
  if (!isOurs(name)) return (real as unknown as (...args: unknown[]) => unknown)(name, ...rest)
  const answer = rest.at(-1) as Answer
  const options = (typeof rest[0] === 'object' ? rest[0] : {}) as Options
  const error = failureOf(name)
  setImmediate(() => {
    if (error !== null) answer(error)
    else if (options.all) answer(null, [{ address, family: 4 }])
    else answer(null, address, 4)
  })
}) as typeof dns.lookup
dns.promises.lookup = (async (name: string, options: Options = {}) => {
  if (!isOurs(name)) return realPromise(name, options as never)
  const error = failureOf(name)
  if (error !== null) throw error
  return options.all ? [{ address, family: 4 }] : { address, family: 4 }
}) as unknown as typeof dns.promises.lookup
syncBuiltinESMExports()
