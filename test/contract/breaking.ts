import { join } from 'node:path'
import { run, tryRun } from '#infra/command.ts'
import { goProgram, oasdiff } from '#infra/install/goPrograms.ts'

const root = join(import.meta.dirname, '../..')
const document = 'packages/contract/openapi.json'

/** Compares the OpenAPI document with its version before. Returns 0 if nothing breaks, 1 if so, 2 without oasdiff. */
async function findBreaking(): Promise<number> {
  const base = (await previousVersion()) ?? (await deepened())
  if (base === undefined) {
    console.log(`${document} has no previous version in this clone: nothing to compare`)
    return 0
  }
  const program = await goProgram(oasdiff, console.error).catch(error => void console.error(error.message))
  if (program === undefined) return 2
  const args = ['breaking', `${base}:${document}`, document, '--flatten-allof', '--fail-on', 'WARN']
  try {
    const { output } = await run(program, args, { cwd: root })
    console.log(`${document} breaks nothing of its version in ${base.slice(0, 12)}: ${output.trim()}`)
    return 0
  } catch (error) {
    console.error(`${document} breaks clients of its version in ${base.slice(0, 12)}.`)
    console.error('/api/v1/ is a stable contract (docs/api.md, Versioning): such a change needs /api/v2/.')
    console.error(error instanceof Error ? error.message : error)
    return 1
  }
}

/** The commit with the document's version before: HEAD if it was changed, else before its last change, if any. */
async function previousVersion(): Promise<string | undefined> {
  const git = async (...args: string[]) => (await tryRun('git', args, { cwd: root }))?.trim()
  const changes = (await git('log', '--format=%H', '-2', '--', document))?.split('\n') ?? []
  const [last, before] = changes.filter(commit => commit !== '')
  const isChanged = (await git('status', '--porcelain', '--', document)) !== ''
  return isChanged ? last : before
}

/** In a shallow clone: the same after some more commits were fetched, if the remote answers. */
async function deepened(): Promise<string | undefined> {
  const shallow = await tryRun('git', ['rev-parse', '--is-shallow-repository'], { cwd: root })
  if (shallow?.trim() !== 'true') return undefined
  const options = { cwd: root, env: { GIT_TERMINAL_PROMPT: '0' }, signal: AbortSignal.timeout(60_000) }
  await run('git', ['fetch', '--quiet', '--deepen', '100'], options).catch(() => undefined)
  return previousVersion()
}

if (import.meta.main) process.exit(await findBreaking())
