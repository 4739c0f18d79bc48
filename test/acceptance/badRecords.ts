import type { TestRecord } from '@tally/testkit/processes/tally'
import type { Festival, Fields } from '@tally/testkit/records/festival'
import { rules } from '../../packages/contract/test/rules.ts'

export type Case = { rule: string; reason: string; field?: string; record: TestRecord }

/** Bad records: one for each rule of a field, and those that no field alone makes bad. */
export function badRecords(festival: Festival): Case[] {
  return [...badFields(festival), ...badJson(festival), ...badKeys(festival)]
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

function badJson(festival: Festival): Case[] {
  const { eventId: key } = festival
  const good = festival.order()
  const json = Buffer.from(JSON.stringify(good.value))
  const raw = (rule: string, value: Buffer | null): Case => ({
    rule,
    reason: 'not-json',
    record: { type: 'orders', key, value },
  })
  return [
    raw('no value', null),
    raw('an empty value', Buffer.alloc(0)),
    raw('half a JSON text', json.subarray(0, 40)),
    raw('a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), json])),
    raw('not UTF-8', Buffer.from(JSON.stringify(good.value).replace('Cash', 'Caf\xe9'), 'latin1')),
    raw('UTF-16', Buffer.from(JSON.stringify(good.value), 'utf16le')),
    raw('a comment', Buffer.concat([json, Buffer.from(' // x')])),
    ...['[]', '"order"', '{}', JSON.stringify([good.value])].map(text => ({
      rule: `the JSON ${text.slice(0, 40)}`,
      reason: 'schema',
      record: { ...good, key, value: Buffer.from(text) },
    })),
  ]
}

function badKeys(festival: Festival): Case[] {
  const { eventId } = festival
  const keyed = (rule: string, record: TestRecord, key: string | null): Case => ({
    rule,
    reason: 'key-mismatch',
    record: { ...record, key },
  })
  return [
    keyed('no key', festival.order(), null),
    keyed('an empty key', festival.order(), ''),
    keyed('a key in upper case', festival.order(), eventId.toUpperCase()),
    keyed(
      'the key of another event',
      festival.order(),
      eventId.replace(/.$/, last => (last === '0' ? '1' : '0')),
    ),
    keyed('the order id as the key', festival.order({ orderId: 'A' }), 'A'),
    keyed('a key with a space behind it', festival.refund({ orderId: 'A' }), `${eventId} `),
    keyed(
      'the organization as the key of its event',
      festival.event({ version: 99 }),
      festival.organizationId,
    ),
    keyed('the event as the key of its organization', festival.organization({ version: 99 }), eventId),
    {
      rule: 'a schema fault before a wrong key',
      reason: 'schema',
      record: { ...festival.order({ version: 0 }), key: null },
    },
    {
      rule: 'a wrong key before a conflict',
      reason: 'key-mismatch',
      record: { ...festival.event({ version: 99, organizationId: eventId }), key: '' },
    },
    {
      rule: 'another name under the version that is applied',
      reason: 'contradiction',
      field: 'name',
      record: festival.event({ name: 'Sagra della Rana' }),
    },
    keyed('a wrong key before a contradiction', festival.event({ name: 'Sagra della Rana' }), ''),
    {
      rule: 'a conflict before a contradiction',
      reason: 'conflict',
      field: 'organizationId',
      record: festival.event({ name: 'Sagra della Rana', organizationId: eventId }),
    },
    {
      rule: 'another organization',
      reason: 'conflict',
      field: 'organizationId',
      record: festival.event({ version: 99, organizationId: eventId }),
    },
  ]
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 40 ? `${text.slice(0, 40)}… (${text.length})` : text
}
