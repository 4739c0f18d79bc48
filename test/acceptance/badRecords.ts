import type { TestRecord } from '@tally/testkit/processes/tally'
import type { Festival, Fields } from '@tally/testkit/records/festival'
import { rules } from '../../packages/contract/test/rules.ts'

export type Case = { rule: string; reason: string; field?: string; record: TestRecord }

/** Bad records: one for each rule of a field, and those that no field alone makes bad. */
export function badRecords(festival: Festival): Case[] {
  return [...badFields(festival), ...badOtherwise(festival)]
}

/** One bad value for each rule of packages/contract/test/rules.ts, whose test tries all of them. */
function badFields(festival: Festival): Case[] {
  const { eventId, organizationId } = festival
  const records: Record<TestRecord['type'], (fields: Fields) => TestRecord> = {
    organizations: fields => ({ ...festival.organization({ version: 99, ...fields }), key: organizationId }),
    events: fields => ({ ...festival.event({ version: 99, ...fields }), key: eventId }),
    orders: fields => ({ ...festival.order(fields), key: eventId }),
    refunds: fields => ({ ...festival.refund({ orderId: 'A', ...fields }), key: eventId }),
  }
  return Object.entries(rules).map(([rule, { type, fields, bad }]) => {
    const [value] = bad
    const [field = ''] = Object.keys(fields(value))
    return { rule: `${rule} ${show(value)}`, reason: 'schema', field, record: records[type](fields(value)) }
  })
}

/** Bad by its bytes, its key or an earlier record; many more bytes: packages/contract/records/decode.unit.test.ts. */
function badOtherwise(festival: Festival): Case[] {
  const { eventId } = festival
  const order = festival.order()
  const of = (rule: string, reason: string, change: Partial<TestRecord>): Case => ({
    rule,
    reason,
    record: { ...order, key: eventId, ...change } as TestRecord,
  })
  const latin1 = Buffer.from(JSON.stringify(order.value).replace('Cash', 'Caf\xe9'), 'latin1')
  const renamed = { name: 'Sagra della Rana' }
  return [
    of('no value', 'not-json', { value: null }),
    of('an empty value', 'not-json', { value: Buffer.alloc(0) }),
    of('not UTF-8', 'not-json', { value: latin1 }),
    of('the JSON []', 'schema', { value: Buffer.from('[]') }),
    of('no key', 'key-mismatch', { key: null }),
    of('the key of another event', 'key-mismatch', {
      key: eventId.replace(/.$/, last => (last === '0' ? '1' : '0')),
    }),
    {
      rule: 'another name under the version that is applied',
      reason: 'contradiction',
      field: 'name',
      record: festival.event(renamed),
    },
    {
      rule: 'another organization, before the contradiction',
      reason: 'conflict',
      field: 'organizationId',
      record: festival.event({ ...renamed, organizationId: eventId }),
    },
  ]
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 40 ? `${text.slice(0, 40)}… (${text.length})` : text
}
