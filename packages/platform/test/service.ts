import { runService } from '../lifecycle/lifecycle.ts'
import { createLogger } from '../log/logger.ts'

/** A service for the tests of the lifecycle; its argument says how it ends. */
const scenario = process.argv[2]
const say = (line: string) => void process.stdout.write(`${line}\n`)
const busy = setInterval(() => {}, 1_000)

try {
  await runService(createLogger('test', 'info'), async (lifecycle, crash) => {
    lifecycle.onDrain(async () => say('drained'))
    lifecycle.onRelease('first', () => say('closed first'))
    lifecycle.onRelease('second', () => {
      if (scenario !== 'hanging') return say('closed second')
      say('closing')
      return new Promise(() => {})
    })
    if (scenario === 'failing-start') throw new Error('no schema')
    if (scenario === 'crash') crash(new Error('a fault'))
    if (scenario === 'throw')
      setImmediate(() => {
        throw new Error('a fault')
      })
    if (scenario === 'reject') void Promise.reject(new Error('a fault'))
    say('started')
  })
} catch (error) {
  say(`start failed: ${(error as Error).message}`)
  process.exitCode = 1
  clearInterval(busy)
}
