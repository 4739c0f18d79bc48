import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { eventPaths, eventPathsTaking } from '@tally/testkit/records/eventPaths'
import { type Festival, newFestival } from '@tally/testkit/records/festival'
import { beforeAll, describe, expect, test } from 'vitest'
import { ownRecords } from '../hostile/ownRecords.ts'

const tally = useSharedTally()
const eventIds = ['a', 'b', 'c'].map(letter => `${letter.repeat(8)}-0000-4000-8000-000000000001`)
const mine = newFestival({ eventId: eventIds[0] as string })
const alsoMine = newFestival({ organizationId: mine.organizationId, eventId: eventIds[1] as string })
const theirs = newFestival({ eventId: eventIds[2] as string })
const tokens: Record<string, string> = {}

/** What only one of them has: days, areas and menu items are never the same number. */
const ids = new Map([
  [mine, 1],
  [alsoMine, 2],
  [theirs, 3],
])
const secret = (festival: Festival) => `secret-${ids.get(festival)}`

beforeAll(async () => {
  await tally.count([...ids].flatMap(([festival, id]) => ownRecords(festival, id, secret(festival))))
  tokens.mine = await tally.key(mine.organizationId)
  tokens.theirs = await tally.key(theirs.organizationId)
  tokens.bound = await tally.key(mine.organizationId, { eventId: mine.eventId as never })
})

/** Every endpoint of `event` with ids of `of` in every place that takes one. */
function pathsOf(event: Festival, of: Festival): string[] {
  const id = ids.get(of)
  const taking = (...parameters: string[]) =>
    eventPathsTaking(...parameters).map(path => `${path}?${parameters.join(`=${id}&`)}=${id}`)
  return [
    ...taking('dayId'),
    ...taking('areaId'),
    ...taking('dayId', 'areaId'),
    ...taking('menuItemIds'),
    `/live/item-counts?menuItemIds=${ids.get(event)},${id}`,
    `/orders/order-${id}`,
  ].map(path => event.path + path)
}
const plainPathsOf = ({ path }: Festival) => [...eventPaths, '/orders/same'].map(end => path + end)

const others = [
  { who: 'another organization’s key', token: 'theirs', event: mine, secrets: [mine, alsoMine] },
  { who: 'a key sees no other organization', token: 'mine', event: theirs, secrets: [theirs] },
  {
    who: 'a key bound to one event sees no other of its organization',
    token: 'bound',
    event: alsoMine,
    secrets: [alsoMine, theirs],
  },
  {
    who: 'a key bound to one event sees no other organization',
    token: 'bound',
    event: theirs,
    secrets: [alsoMine, theirs],
  },
]

describe.for(others)('$who ($token)', ({ token, event, secrets }) => {
  test('every address of the event is a 404 that names nothing', async () => {
    const paths = [...plainPathsOf(event), ...[...ids.keys()].flatMap(of => pathsOf(event, of))]
    for (const path of paths) {
      const { status, text, headers } = await tally.get(path, { token: tokens[token] })
      expect({ path, status, tag: headers.etag, asOf: headers['tally-as-of'] }).toEqual({
        path,
        status: 404,
        tag: undefined,
        asOf: undefined,
      })
      for (const festival of secrets) expect(text).not.toContain(secret(festival))
    }
  })
})

test.for([
  { event: mine, token: 'mine' },
  { event: mine, token: 'bound' },
  { event: theirs, token: 'theirs' },
  { event: alsoMine, token: 'mine' },
])('ids of another event are a 404 everywhere, one’s own are not ($token)', async ({ event, token }) => {
  for (const of of ids.keys()) {
    for (const path of pathsOf(event, of)) {
      const { status, text } = await tally.get(path, { token: tokens[token] })
      expect({ path, status }).toEqual({ path, status: of === event ? 200 : 404 })
      for (const other of ids.keys()) if (other !== event) expect(text).not.toContain(secret(other))
    }
  }
})

test('the list of events holds exactly what the key may see', async () => {
  const list = async (token: string) =>
    (await tally.get('/api/v1/events', { token: tokens[token] })).body.data.map(
      ({ id }: { id: string }) => id,
    )
  expect(await list('mine')).toEqual([mine.eventId, alsoMine.eventId])
  expect(await list('theirs')).toEqual([theirs.eventId])
  expect(await list('bound')).toEqual([mine.eventId])
})
