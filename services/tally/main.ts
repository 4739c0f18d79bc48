import { remark } from './output.ts'
import { run } from './run.ts'

/** The reader of stdout may go away: that is not a failure, and ends only lists (printText in output.ts). */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return
  remark(`tally: the result cannot be written: ${error.message}`)
  process.exit(1)
})
process.stderr.on('error', () => {})

/** What bin/tally keeps from Node is a setting that Tally refuses. */
if (process.env.TALLY_UNREAD_CA_CERTS) process.env.NODE_EXTRA_CA_CERTS = process.env.TALLY_UNREAD_CA_CERTS

const code = await run(process.argv.slice(2))
if (code !== undefined) process.exit(code)
