import { run } from './run.ts'

/** The reader of stdout may go away (`tally keys list … | head -1`): that is not a failure. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
process.stderr.on('error', () => {})

const code = await run(process.argv.slice(2))
if (code !== undefined) process.exit(code)
