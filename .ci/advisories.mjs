// Asks the registry for known advisories of the shipped packages, and exits with 1 if one is high or critical. A
// registry without an audit endpoint checks nothing: this says so, and when the last check was. `--record`, where the
// registry answers, writes that to .ci/advisories.json, which is committed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const record = '.ci/advisories.json'
const lockFile = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex')
const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8' })
const counts = countsIn(stdout)
if (counts === undefined) {
  console.error(
    `ADVISORIES WERE NOT CHECKED: the registry has no audit endpoint. Last check: ${lastCheck()}.`,
  )
} else {
  const severe = counts.high + counts.critical
  console.error(`advisories: ${counts.total} of shipped packages, ${severe} of them high or critical`)
  if (severe > 0) console.error(stdout)
  process.exitCode = severe > 0 ? 1 : 0
  if (severe === 0 && process.argv.includes('--record'))
    writeFileSync(
      record,
      `${JSON.stringify({ checkedAt: new Date().toISOString().slice(0, 10), lockFile })}\n`,
    )
}

/** The number of advisories by severity; undefined if the registry answered none. */
function countsIn(text) {
  try {
    return JSON.parse(text).metadata?.vulnerabilities
  } catch {
    return undefined
  }
}

function lastCheck() {
  if (!existsSync(record)) return 'never'
  const { checkedAt, lockFile: checked } = JSON.parse(readFileSync(record, 'utf8'))
  const days = Math.floor((Date.now() - Date.parse(checkedAt)) / 86_400_000)
  return `${checkedAt}, ${days} days ago, of ${checked === lockFile ? 'the present' : 'an earlier'} package-lock.json`
}
