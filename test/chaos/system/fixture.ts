import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ask, ask, type Reply } from '@tally/testkit/processes/http'
import type { TestRecord } from '@tally/testkit/processes/tally'
import { randomFrom } from '@tally/testkit/random'
import { afterAll, beforeAll, expect } from 'vitest'
import { type Checking, checkAnswers, untilFresh } from '../checks/checking.ts'
import { collectWrongs, type Wrongs } from '../checks/wrong.ts'
import { type Feeding, openFeeding } from '../load/feeding.ts'
import { openLoad } from '../load/load.ts'
import { type LinkedSystem, startLinkedSystem } from './linkedSystem.ts'
import type { SystemWanted } from './system.ts'

/** A system of a test file's own, whose servers may be killed, and what its tests ask of it. */
export type Fixture = {
  system: LinkedSystem
  feeding: Feeding
  /** Sends good records. */
  send: (...records: TestRecord[]) => Promise<void>
  /** Sends them and waits until every event's `asOf` is later. */
  count: (...records: TestRecord[]) => Promise<void>
  token: (organizationId: string) => Promise<string>
  get: (path: string, more?: Ask & { query?: number }) => Promise<Reply>
  /** Compares every answer about every event with the brute-force count; the paths for which `counts` holds. */
  expectAnswers: (counts?: (path: string) => boolean) => Promise<void>
}

export function useFixture(wanted: Omit<SystemWanted, 'folder'>): Fixture {
  const fixture = {} as Fixture
  let stop = async () => {}
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tally-chaos-'))
    const system = await startLinkedSystem({ ...wanted, folder })
    stop = async () => {
      await system.stop()
      rmSync(folder, { recursive: true, force: true })
    }
    const feeding = await openFeeding(system, openLoad(1), 1)
    const stopSystem = stop
    stop = () => feeding.close().then(stopSystem)
    const tokens = new Map<string, string>()
    const random = randomFrom(1, 'questions')
    const tokenOf = (eventId: string) => tokens.get(feeding.book.organizationOf(eventId)) ?? ''
    const checking = (wrongs = collectWrongs(() => {})): Checking => ({
      system,
      feeding,
      wrongs,
      random,
      tokenOf,
    })
    Object.assign(fixture, {
      system,
      feeding,
      send: (...records) => feeding.send(records.map(record => ({ record, isBad: false }))),
      async count(...records) {
        await fixture.send(...records)
        for (const { type, value } of records)
          if (type === 'organizations')
            tokens.set(value.organizationId, await system.key(value.organizationId))
        const sinceMs = Date.now()
        const tookMs = await untilFresh(checking(), {
          eventIds: feeding.book.eventIds,
          sinceMs,
          timeoutMs: 120_000,
        })
        if (tookMs === undefined) throw new Error('what was sent is not counted after 120 s')
      },
      token: async organizationId => tokens.get(organizationId) ?? '',
      get: (path, { query = 0, ...more } = {}) => ask(system.queries[query]?.address ?? '', path, more),
      async expectAnswers(counts = () => true) {
        const book = {
          ...feeding.book,
          answers: (id: string) => feeding.book.answers(id).filter(({ path }) => counts(path)),
        }
        for (const until = Date.now() + 120_000; ; ) {
          const wrongs = collectWrongs(() => {})
          const deps = { ...checking(wrongs), feeding: { ...feeding, book } }
          const compared = await checkAnswers(deps, feeding.book.eventIds())
          expect(compared).toBeGreaterThan(0)
          if (isBusy(wrongs) && Date.now() < until) continue
          expect(wrongs.list).toEqual([])
          return
        }
      },
    } satisfies Fixture)
  })
  afterAll(() => stop())
  return fixture
}

/** If a part is up but slower than its time-out, the answer is a 503, which asks the client to try again. */
function isBusy({ list }: Wrongs): boolean {
  return list.length > 0 && list.every(({ what }) => what.includes(': 503 '))
}
