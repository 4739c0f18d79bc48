import type { RecordType } from '@tally/contract'
import { anEvent, anOrder, anOrganization } from '@tally/testkit/records/records'
import type { Client } from 'pg'
import { type Written, writtenBy } from './shopDatabase.ts'

type Fields = Record<string, unknown>

/** Stores a record as a till would, rolled back; returns what the outbox wrote last. Throws what Postgres refuses. */
export async function storeRecord(sql: Client, type: RecordType, record: Fields): Promise<Written> {
  await sql.query('begin')
  try {
    await stores[type](sql, record)
    // As a commit would: the deferred triggers run now.
    await sql.query('set constraints all immediate')
    const written = (await writtenBy(sql, type)).at(-1)
    if (written === undefined) throw new Error(`the outbox wrote nothing for ${type}`)
    return written
  } finally {
    await sql.query('rollback')
  }
}

const stores: Record<RecordType, (sql: Client, record: Fields) => Promise<unknown>> = {
  organizations: storeOrganization,
  async events(sql, event) {
    await storeOrganization(sql, anOrganization({ organizationId: event.organizationId }))
    await storeEvent(sql, event)
  },
  async orders(sql, order) {
    await stores.events(sql, anEvent({ eventId: order.eventId, areas: [], days: [], menuItems: [] }))
    await storeOrder(sql, order)
  },
  async refunds(sql, refund) {
    const { eventId, version = 1, refundedAt, amount, lines } = refund
    await stores.orders(sql, anOrder({ eventId }))
    const { rows } = await sql.query(
      `insert into refunds (order_id, version, refunded_at, amount)
       select id, $1, $2, $3 from orders returning id`,
      [version, refundedAt, amount],
    )
    await sql.query(
      `insert into refund_lines (refund_id, position, menu_item_id, quantity, amount)
       select $1, n, line.* from json_array_elements($2) with ordinality as given (line_json, n),
         json_to_record(line_json) as line ("menuItemId" int, quantity int, amount numeric)`,
      [rows[0].id, JSON.stringify(lines ?? [])],
    )
  },
}

async function storeOrganization(sql: Client, organization: Fields): Promise<void> {
  const { organizationId, version, name, status } = organization
  await sql.query('insert into organizations (id, version, name, status) values ($1, $2, $3, $4)', [
    organizationId,
    version,
    name,
    status,
  ])
}

async function storeEvent(sql: Client, event: Fields): Promise<void> {
  const { eventId, organizationId, version, name, startDate, timeZone, areas, days, menuItems } = event
  await sql.query(
    `insert into events (id, organization_id, version, name, starts_at, time_zone)
     values ($1, $2, $3, $4, $5, $6)`,
    [eventId, organizationId, version, name, startDate, timeZone],
  )
  await sql.query(
    'insert into areas select $1, * from json_to_recordset($2) as area ("areaId" int, name text)',
    [eventId, JSON.stringify(areas)],
  )
  await sql.query(
    `insert into days select $1, * from json_to_recordset($2)
       as day ("dayId" int, date date, "openedAt" timestamptz, "closedAt" timestamptz)`,
    [eventId, JSON.stringify(days)],
  )
  await sql.query(
    `insert into menu_items select $1, * from json_to_recordset($2)
       as item ("menuItemId" int, name text, "categoryName" text)`,
    [eventId, JSON.stringify(menuItems)],
  )
}

async function storeOrder(sql: Client, order: Fields): Promise<void> {
  const { eventId, version, displayOrderNumber, status, areaId, dayId, orderDateTime, items } = order
  const { paymentMethod, amountPaid, totalAmount, isTakeaway, tableNumber } = order
  const { rows } = await sql.query(
    `insert into orders (event_id, version, number, status, area_id, day_id, ordered_at, payment_method,
       amount_paid, total, is_takeaway, table_number)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning id`,
    [
      eventId,
      version,
      displayOrderNumber,
      status,
      areaId,
      dayId,
      orderDateTime,
      paymentMethod,
      amountPaid,
      totalAmount,
      isTakeaway,
      tableNumber,
    ],
  )
  await sql.query(
    `insert into lines (order_id, position, menu_item_id, item_name, quantity, unit_price)
     select $1, n, line.* from json_array_elements($2) with ordinality as given (line_json, n),
       json_to_record(line_json) as line ("menuItemId" int, "itemName" text, quantity int, "unitPrice" numeric)`,
    [rows[0].id, JSON.stringify(items)],
  )
}
