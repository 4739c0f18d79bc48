import { run } from './run.ts'

/** The reader of stdout may go away (`tally keys list … | head -1`): that is not a failure. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
process.stderr.on('error', () => {})

/** What bin/tally keeps from Node is a setting that Tally refuses. */
if (process.env.TALLY_UNREAD_CA_CERTS) process.env.NODE_EXTRA_CA_CERTS = process.env.TALLY_UNREAD_CA_CERTS

const code = await run(process.argv.slice(2))
if (code !== undefined) process.exit(code)
