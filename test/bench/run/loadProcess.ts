import autocannon from 'autocannon'
import { percentile } from '../report/figures.ts'
import type { Load } from './load.ts'

/** What a load begins with and does not count: this process is new each time and slow until it is compiled. */
const warmUpSeconds = 1
const warmUpRequests = 50

/**
 * One load by autocannon, as the process that load.ts starts; prints the figures as JSON. autocannon keeps times in
 * whole milliseconds, too coarse for a ratio of two p99 of a few: here they are kept as they came.
 */
const { url, token, connections, seconds, amount } = JSON.parse(process.argv[2] ?? '') as Load
const took: number[] = []
const options = {
  url,
  connections,
  ...(amount === undefined ? { duration: warmUpSeconds + seconds } : { amount: warmUpRequests + amount }),
  headers: token === undefined ? {} : { 'X-Api-Key': token },
}
const finished = Promise.withResolvers<autocannon.Result>()
const running = autocannon(options, (error, result) =>
  error ? finished.reject(error) : finished.resolve(result),
)
const began = performance.now()
let answers = 0
let firstAt = 0
let lastAt = 0
running.on('response', (_client, _status, _bytes, responseMs) => {
  answers += 1
  lastAt = performance.now()
  const isWarm = amount === undefined ? lastAt - began > warmUpSeconds * 1000 : answers > warmUpRequests
  if (!isWarm) return
  firstAt ||= lastAt
  took.push(responseMs)
})
const { errors, timeouts, non2xx } = await finished.promise
if (errors + timeouts + non2xx > 0)
  throw new Error(`the load on ${url} failed: ${errors} errors, ${timeouts} time-outs, ${non2xx} not 2xx`)
const figures = {
  rate: ((took.length - 1) * 1000) / (lastAt - firstAt),
  median: percentile(took, 0.5),
  p99: percentile(took, 0.99),
}
process.stdout.write(JSON.stringify(figures))
