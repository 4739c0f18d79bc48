import { createHash } from 'node:crypto'
import { createDeadLetters } from '@tally/dead-letters'
import { maxValueBytes, type Producer, type RecordBatch } from '@tally/kafka'
import { createLogger } from '@tally/platform'
import { judgeBatch, logInternal, type Projected, type ProjectorDeps, projectPieces } from '@tally/projection'
import { batchOf, type Harness, topics } from '@tally/testkit/projection/harness'
import { test } from '@tally/testkit/projection/projectionTest'
import { anOrder } from '@tally/testkit/records/records'
import { sql } from 'kysely'
import { expect, vi } from 'vitest'

const orders = (eventId: string, ...ids: string[]) => ids.map(orderId => anOrder({ eventId, orderId }))
/** Projects a batch of orders; `internal`: offsets of records on which the projector failed. */
async function project(
  harness: Harness,
  batch: RecordBatch,
  more: Partial<ProjectorDeps> = {},
): Promise<{ next: number; pieces: Projected[]; internal: number[] }> {
  const internal: number[] = []
  const pieces: Projected[] = []
  const deps = {
    ...harness.deps,
    ...more,
    onInternal: (at: { offset: number }) => void internal.push(at.offset),
  }
  const next = await projectPieces(deps, 'orders', batch, (_, projected) => pieces.push(projected))
  return { next, pieces, internal }
}
const reasonsOfDeadLetters = (harness: Harness) =>
  harness.deadLetters.map(({ headers = {} }) => [headers['__connect.errors.offset'], headers['tally.reason']])

test('a record whose value was left out is a dead letter with its size and hash, the others count', async ({
  harness,
  eventId,
  at,
}) => {
  const batch = batchOf(topics.orders, 0, orders(eventId, 'A-1', 'A-2', 'A-3'))
  const leftOut = { bytes: maxValueBytes + 1, sha256: createHash('sha256').update('x').digest('hex') }
  batch.records[1] = { offset: 1, timestampMs: 0, key: Buffer.from('k'), value: null, headers: {}, leftOut }
  await project(harness, batch)
  expect(await at.figures()).toMatchObject({ orders: 2 })
  expect(harness.deadLetters).toMatchObject([
    {
      value: null,
      headers: {
        'tally.reason': 'too-large',
        'tally.value-bytes': '8388609',
        'tally.value-sha256': leftOut.sha256,
        '__connect.errors.exception.message': 'the value has 8388609 bytes: at most 8388608 are read',
      },
    },
  ])
})

test('if judging fails, the record is a dead letter; the others count', async ({ harness, eventId, at }) => {
  const batch = batchOf(topics.orders, 0, orders(eventId, 'A-1', 'A-2', 'A-3'))
  const value = batch.records[1]?.value as Buffer
  value.toString = () => {
    throw new RangeError('Invalid string length')
  }
  expect(await project(harness, batch)).toMatchObject({ next: 3, internal: [1] })
  expect(await at.figures()).toMatchObject({ orders: 2 })
  expect(reasonsOfDeadLetters(harness)).toEqual([['1', 'internal']])
})

test('records of large orders apply in pieces, and count as in one', async ({ harness, eventId, at }) => {
  const ids = Array.from({ length: 80 }, (_, index) => `large-${index}`)
  const versions = (version: number) => ids.map(orderId => anOrder({ eventId, orderId, version, items: [] }))
  await project(harness, batchOf(topics.orders, 0, orders(eventId, ...ids)))
  await sql`
update orders set lines = json_build_array(
  json_build_object('menuItemId', 7, 'itemName', 'Fish', 'quantity', 2, 'unitPrice', 8.5, 'note', repeat('n', 1000000))
)
where event_id = ${eventId}`.execute(harness.deps.db)
  const repeated = await project(harness, batchOf(topics.orders, 80, versions(1)))
  expect(repeated).toMatchObject({ next: 160, internal: [] })
  expect(repeated.pieces).toHaveLength(16)
  expect(reasonsOfDeadLetters(harness)).toEqual(ids.map((_, index) => [`${80 + index}`, 'contradiction']))
  const changed = await project(harness, batchOf(topics.orders, 160, versions(2)))
  expect(changed.pieces).toHaveLength(16)
  expect(await at.figures()).toMatchObject({ orders: 80, sold: 0 })
})

test('a batch of which a statement takes too long is reported and applies in pieces', async ({
  harness,
  eventId,
  at,
}) => {
  const ids = Array.from({ length: 32 }, (_, index) => `B-${index}`)
  const batch = batchOf(topics.orders, 0, orders(eventId, ...ids))
  const onTimeout = vi.fn()
  const tooLong = (most: number) =>
    sql`
create or replace function too_long() returns trigger language plpgsql as $$
begin
  if (select count(*) from added) > ${sql.lit(most)} then
    raise exception 'too long' using errcode = 'query_canceled';
  end if;
  return null;
end $$`.execute(harness.db)
  await tooLong(2)
  await sql`
create trigger too_long after insert on orders referencing new table as added
for each statement execute function too_long()`.execute(harness.db)
  try {
    const { next, pieces, internal } = await project(harness, batch, { onTimeout })
    expect([next, pieces.length, internal]).toEqual([32, 16, []])
    expect(await at.figures()).toMatchObject({ orders: 32 })
    await tooLong(0)
    const more = batchOf(topics.orders, 32, orders(eventId, 'C-1', 'C-2', 'C-3', 'C-4'))
    await expect(project(harness, more, { onTimeout })).rejects.toThrow('too long')
    expect(onTimeout.mock.calls.map(([{ records }]) => records.length)).toEqual([32, 4])
    const lost = () => {
      throw new Error('lost')
    }
    await expect(project(harness, more, { onTimeout: lost })).rejects.toThrow('lost')
    expect(harness.deadLetters).toEqual([])
  } finally {
    await sql`drop function too_long cascade`.execute(harness.db)
  }
})

test('what Postgres refuses is a dead letter, the other records count', async ({ harness, eventId, at }) => {
  await sql`alter table orders add constraint poison check (order_id <> 'A-4')`.execute(harness.db)
  try {
    const { next, pieces, internal } = await project(
      harness,
      batchOf(topics.orders, 0, orders(eventId, 'A-1', 'A-2', 'A-3', 'A-4', 'A-5')),
    )
    expect(next).toBe(5)
    expect(pieces.length).toBeGreaterThan(1)
    expect(await at.figures()).toMatchObject({ orders: 4 })
    expect(reasonsOfDeadLetters(harness)).toEqual([['3', 'internal']])
    expect(internal).toEqual([3])
    expect(await at.stored()).toMatchObject({ nextOffset: 5 })
  } finally {
    await sql`alter table orders drop constraint poison`.execute(harness.db)
  }
})

test('a record on which this program fails while it is applied is a dead letter, with an error of Node too', async ({
  harness,
  eventId,
  at,
}) => {
  const batch = batchOf(topics.orders, 0, orders(eventId, 'A-1', 'A-2', 'A-3'))
  const hasMisplaced = ({ records }: RecordBatch, keys: Iterable<string>): boolean => {
    if (records.some(({ offset }) => offset === 1) && [...keys].length > 0) Buffer.alloc(1).readInt32BE()
    return false
  }
  expect(await project(harness, batch, { hasMisplaced })).toMatchObject({ next: 3, internal: [1] })
  expect(await at.figures()).toMatchObject({ orders: 2 })
  expect(reasonsOfDeadLetters(harness)).toEqual([['1', 'internal']])
})

test('an error that no record caused fails the batch, with no dead letter', async ({ harness, eventId }) => {
  await sql`alter table orders rename to elsewhere`.execute(harness.db)
  try {
    await expect(project(harness, batchOf(topics.orders, 0, orders(eventId, 'A-1', 'A-2')))).rejects.toThrow(
      'does not exist',
    )
    expect(harness.deadLetters).toEqual([])
  } finally {
    await sql`alter table elsewhere rename to orders`.execute(harness.db)
  }
})

test('the log of an internal error names the record and the place in the code, never the record’s content', () => {
  const logger = createLogger('test', 'silent')
  const error = vi.spyOn(logger, 'error')
  const secret = Buffer.from('{"name":"Ada Lovelace"}')
  secret.toString = () => {
    throw new Error('cannot read Ada Lovelace')
  }
  const records = [{ offset: 7, timestampMs: 0, key: null, value: secret, headers: {} }]
  const batch = { topic: 't', partition: 1, from: 7, next: 8, lastStableOffset: 8, records }
  const { rejected } = judgeBatch('orders', batch, {
    onInternal: (at, thrown) => logInternal(logger, at, thrown),
  })
  expect(rejected).toMatchObject([{ offset: 7, rejected: { reason: 'internal' } }])
  const [fields] = error.mock.calls[0] as unknown as [Record<string, unknown>]
  expect(fields).toMatchObject({ topic: 't', partition: 1, offset: 7, error: 'Error' })
  expect(JSON.stringify(error.mock.calls)).not.toContain('Lovelace')
})

test('a dead letter that is refused for its size is sent without its value, then without key and headers', async () => {
  const value = Buffer.alloc(1000, 'v')
  const key = Buffer.alloc(500, 'k')
  const own = { own: 'h', 'tally.value-bytes': 'own' }
  const sent: (string | Buffer | null)[][] = []
  const sendWith = async (most: number, record: object = { key, headers: own }) => {
    sent.length = 0
    const send: Producer['send'] = async (records, smaller = () => undefined) => {
      for (let [record] = records; record !== undefined; record = smaller(record)) {
        const { key, value, headers = {} } = record
        const size = (key?.length ?? 0) + (value?.length ?? 0) + JSON.stringify(headers).length
        if (size > most) continue
        const said = ['tally.value-bytes', 'tally.value-sha256', 'own'].map(name => headers[name])
        sent.push([key, value, ...said.map(text => String(text ?? ''))])
        return
      }
      throw new Error('refused forever')
    }
    const batch = batchOf(topics.orders, 0, [value])
    Object.assign(batch.records[0] as object, record)
    const rejected = { outcome: 'rejected', reason: 'not-json', message: 'm' } as const
    await createDeadLetters({ send }, 't.dead-letters').send(batch, [{ offset: 0, rejected }])
  }
  const sha256 = createHash('sha256').update(value).digest('hex')
  await sendWith(5000)
  expect(sent).toEqual([[key, value, 'own', '', 'h']])
  await sendWith(1200)
  expect(sent).toEqual([[key, null, 'own,1000', sha256, 'h']])
  const ofOurs = { 'tally.reason': String(key), '__connect.errors.exception.stacktrace': String(key) }
  for (const record of [undefined, { key, headers: {} }, { key: null, headers: ofOurs }]) {
    await sendWith(500, record)
    expect(sent).toEqual([[null, null, '1000', sha256, '']])
  }
  await sendWith(500, { key: null, value: null, headers: { 'tally.value-bytes': String(key) } })
  expect(sent).toEqual([[null, null, '', '', '']])
})
