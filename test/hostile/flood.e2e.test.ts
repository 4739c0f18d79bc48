import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeToken } from '@tally/access'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { newFestival } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'

const tally = useSharedTally()
const floodConnections = 32
const roundMs = 1_500

/** A token with a valid checksum that belongs to no key: it has to be looked up. */
const wrongToken = () => makeToken().token

/** Sends requests over connections of its own until stopped; returns how often each status came. */
function poll(address: string, path: string, connections: number, token: () => string) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { hostname, port } = new URL(address)
  const statuses = new Map<number, number>()
  let isOver = false
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const outgoing = request(
        { agent, hostname, port, path, headers: { 'X-Api-Key': token() } },
        incoming => {
          statuses.set(incoming.statusCode ?? 0, (statuses.get(incoming.statusCode ?? 0) ?? 0) + 1)
          incoming.resume().on('end', resolve).on('error', reject)
        },
      )
      outgoing.on('error', reject).end()
    })
  const line = async () => {
    while (!isOver) await one()
  }
  const lines = Promise.all(Array.from({ length: connections }, line))
  return {
    async stop(): Promise<Map<number, number>> {
      isOver = true
      await lines
      agent.destroy()
      return statuses
    },
  }
}

test('every request with a valid key is answered during a flood of wrong tokens', async () => {
  const festival = newFestival()
  await tally.count([festival.organization(), festival.event(), festival.order()])
  const token = await tally.key(festival.organizationId)
  const address = tally.queries[0]?.address as string
  const path = `${festival.path}/live/item-counts`
  const rates = { quiet: [] as number[], flooded: [] as number[] }
  for (const kind of ['quiet', 'flooded', 'quiet', 'flooded', 'quiet', 'flooded'] as const) {
    const flood = kind === 'flooded' ? poll(address, path, floodConnections, wrongToken) : undefined
    const client = poll(address, path, 1, () => token)
    await sleep(roundMs)
    const statuses = await client.stop()
    const flooded = await flood?.stop()

    expect([...statuses.keys()]).toEqual([200])
    if (flooded !== undefined) expect([...flooded.keys()]).toEqual([401])
    rates[kind].push(Math.round((statuses.get(200) ?? 0) / (roundMs / 1000)))
  }
  console.info(
    `requests/s of one client: alone ${rates.quiet}; with ${floodConnections} floods ${rates.flooded}`,
  )
})
