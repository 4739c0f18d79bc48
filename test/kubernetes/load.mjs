// Runs in a pod: four clients that ask the same question again and again, two of them over a new connection each time.
// Writes how many requests had which outcome (a status, or the code of an error) as one line of JSON every 0.2 s.
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const { URL: url = '', TOKEN: token = '' } = process.env
const outcomes = {}

const ask = agent =>
  new Promise(resolve => {
    get(url, { agent, headers: { 'X-Api-Key': token }, timeout: 10_000 }, reply => {
      reply
        .on('end', () => resolve(reply.statusCode))
        .on('error', error => resolve(error.message))
        .resume()
    }).on('error', error => resolve('code' in error ? error.code : error.message))
  })

async function client(keepAlive) {
  for (const agent = new Agent({ keepAlive, maxSockets: 1 }); ; await sleep(10)) {
    const outcome = String(await ask(agent))
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  }
}

for (const keepAlive of [true, true, false, false]) void client(keepAlive)
setInterval(() => console.log(JSON.stringify(outcomes)), 200)
process.on('SIGTERM', () => process.exit())
