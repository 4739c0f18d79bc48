import { ask } from '@tally/testkit/processes/http'
import { until } from '@tally/testkit/until'
import { compareReaders } from '../hostile/differential/compare.ts'
import type { Target } from './system.ts'

/** Compares the API's readers of requests; returns what differs, a line each, with the seed that repeats it. */
export async function scanReaders(
  { api, token, path }: Target,
  { seed, minutes }: { seed: number; minutes: number },
): Promise<{ conversations: number; found: string[] }> {
  const sinceMs = Date.now()
  await until('all that was fed is counted', async () => {
    const { body } = await ask(api, path, { token })
    return Date.parse(body.meta.asOf) >= sinceMs
  })
  try {
    return { conversations: await compareReaders(api, { path, token }, { seed, minutes }), found: [] }
  } catch (error) {
    // fast-check's message names the conversation, its cause what differs.
    const said = error instanceof Error ? [error.message, error.cause ?? ''] : [error]
    return { conversations: 0, found: said.map(String).join('\n').split('\n') }
  }
}
