import { z } from 'zod'
import { type RecordType, recordTypes } from './decode.ts'

/**
 * The rules of a record that no JSON Schema can say, or only with validators that do not divide binary fractions. The
 * projector judges them; `tally records check` does the same before anything is sent.
 */
const judgedByTheProjector: Record<RecordType, string[]> = {
  organizations: ['the record key is organizationId in lower case'],
  events: [
    'the record key is eventId in lower case',
    'timestamps and dates are real dates, from 1970 to 9999 in UTC',
    'timeZone is a name of the IANA time zone database',
    'areaId, dayId and menuItemId are unique within their lists',
    'at most one day has no closedAt, and no closedAt is before its openedAt',
    'an event never changes its organization',
  ],
  orders: [
    'the record key is eventId in lower case',
    'amounts have at most two decimals',
    'the |quantity × unitPrice| of all items add up to at most 99,999,999.99',
    'orderDateTime is a real date, from 1970 to 9999 in UTC',
  ],
  refunds: [
    'the record key is eventId in lower case',
    'amounts have at most two decimals',
    'the amounts of the lines add up to at most 99,999,999.99',
    'a refund never changes its order',
    'refundedAt is a real date, from 1970 to 9999 in UTC',
  ],
}

const everywhere = [
  'two records with one id and version say the same',
  'the value is UTF-8 JSON of at most 8 MiB',
  'texts hold no lone surrogate, and their lengths count UTF-16 units',
]

/**
 * The JSON Schema of a record's value as it is in Kafka, for producers. It refuses nothing that the projector accepts;
 * its description says what the projector judges besides.
 */
export function recordJsonSchema(type: RecordType, target: 'draft-2020-12' | 'draft-07' = 'draft-2020-12') {
  const { $schema, title, ...schema } = z.toJSONSchema(recordTypes[type].schema, { io: 'input', target })
  const besides = [...judgedByTheProjector[type], ...everywhere].join('; ')
  const description = `The value of a record of ${type}. Unknown fields are ignored. The projector also judges: ${besides}.`
  return { $schema, title, description, ...schema }
}
