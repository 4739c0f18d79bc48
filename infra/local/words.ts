import type { SignIn } from './demo/firstAdministrator.ts'

/** One line of progress, on stderr: stdout belongs to the result. */
export function log(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** A server's URL without user and password. */
export const addressOf = (url: string): string => url.replace(/\/\/.*@/, '//')

/** Runs a step and logs how long it took. */
export async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await work()
  log(`${name} ready (${((performance.now() - began) / 1000).toFixed(1)} s)`)
  return result
}

/** What the reader of the last words needs: addresses, and a key with a path that answers, as far as there is one. */
export interface Outcome {
  address: string
  /** The administration area. */
  area: string
  /** The file with the settings of the servers that were started here. */
  envFile: string
  key: { name: string; token: string } | undefined
  signIn: SignIn | undefined
  path: string | undefined
}

/** The text that `npm start` closes with. */
export function lastWords({ address, area, envFile, key, signIn, path }: Outcome): string {
  const addresses = [
    'Tally runs. Ctrl-C stops it.',
    '',
    `  API             ${address}/api/v1/`,
    `  Reference       ${address}/docs`,
    `  Guides          ${address}/docs/guide`,
    `  Administration  ${area}/`,
    ...(signIn === undefined ? [] : [`    sign in as ${signIn.email} with ${signIn.password}`]),
    '',
    '  For `npx tally` in another terminal:',
    `  . ${envFile}`,
    '',
  ]
  if (key === undefined) return [...addresses, ...howToMakeAKey, ''].join('\n')
  const curl = `  curl -H 'X-Api-Key: ${key.token}' ${address}${path ?? '/api/v1/events'}`
  return [...addresses, `  API key of ${key.name}: ${key.token}`, '', curl, ''].join('\n')
}

const howToMakeAKey = [
  '  No API key yet. Once an organization is known (`npx tally feed --data FILE` sends some), make one:',
  '  npx tally keys create --organization UUID --name me --scope events:read --scope analytics:read --json',
  '  and somebody who signs in to the administration area:',
  '  npx tally administrators create --organization UUID --email you@example.org',
]
