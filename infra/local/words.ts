/** One line of progress, on stderr: stdout belongs to the result. */
export function log(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** A server's URL without user and password. */
export const addressOf = (url: string): string => url.replace(/\/\/.*@/, '//')

/** Runs a step and logs how long it took, unless it returns false: then it has not come to its end. */
export async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await work()
  if (result !== false) log(`${name} ready (${((performance.now() - began) / 1000).toFixed(1)} s)`)
  return result
}

/**
 * Where Tally answers: the API, its operations port and the administration area, the file with the settings of the
 * servers, and whether an evening is simulated.
 */
type Addresses = { address: string; ops: string; area: string; envFile: string; feed: boolean }

/** What `npm start` prints as soon as Tally answers. */
export const addresses = ({ address, ops, area, envFile, feed }: Addresses): string =>
  [
    'Tally runs. Ctrl-C stops it.',
    '',
    `  open ${area}/live`,
    ...(feed ? simulated : []),
    '',
    `  API             ${address}`,
    `  Reference       ${address}/docs`,
    `  Guides          ${address}/docs/guide`,
    `  Administration  ${area}/`,
    `  Metrics         ${ops}/metrics`,
    '',
    '  For the runbook and `npx tally doctor` in another terminal:',
    `  . ${envFile}`,
    '',
    '',
  ].join('\n')

/** Its clock runs about 80 times as fast as the wall's, so that its last sales soon lie in the future. */
const simulated = [
  '  The evening is simulated: it passes in about five minutes, and its times of day are not those of your clock.',
]

/** What it prints once there is an administrator. */
export const howToSignIn = ({ email, password }: { email: string; password: string }): string =>
  `  Sign in to the administration area as ${email} with ${password}\n\n`

/** What it closes with: a key, and a path that answers, as far as there is one. */
type Outcome = {
  address: string
  key: { name: string; token: string } | undefined
  path: string | undefined
  /** The file that other shells read, with what the guides ask for. */
  envFile: string | undefined
}

export function lastWords({ address, key, path, envFile }: Outcome): string {
  if (key === undefined) return [...howToMakeAKey, ''].join('\n')
  const curl = `  curl -H 'X-Api-Key: ${key.token}' ${address}${path ?? '/api/v1/events'}`
  const guides = envFile === undefined ? [] : [`  Try the guides: . ${envFile}`]
  return [`  API key of ${key.name}: ${key.token}`, ...guides, '', curl, ''].join('\n')
}

const howToMakeAKey = [
  '  No API key yet. Once an organization is known (`npx tally feed --data FILE` sends some), make one:',
  '  npx tally keys create --organization UUID --name me --scope events:read --scope analytics:read --json',
  '  and somebody who signs in to the administration area:',
  '  npx tally administrators create --organization UUID --email you@example.org',
]
