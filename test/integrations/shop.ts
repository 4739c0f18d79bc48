import { randomBytes, randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { localFolder } from '#infra/folder.ts'
import { startServers } from '#infra/servers/index.ts'
import { log } from './programs.ts'

const guide = join(import.meta.dirname, '../../docs/guides/outbox')

/** The path of a file of docs/guides/outbox. */
export const guideFile = (name: string): string => join(guide, name)

/** The order database of the guide, on a Postgres of its own that writes a logical log. */
export type Shop = {
  url: URL
  password: string
  sql: Client
  /** Runs a file of the guide in one transaction. */
  runFile: (name: string) => Promise<void>
  stop: () => Promise<void>
}

/** Starts the database and creates the shop's tables, without the outbox. */
export async function openShop(): Promise<Shop> {
  const dataFolder = localFolder(join('integrations', `shop-${process.pid}`))
  const servers = await startServers({
    dataFolder,
    kafka: false,
    redis: false,
    fresh: true,
    durable: false,
    log,
  })
  const url = new URL(servers.databaseUrl)
  const first = await connect(url)
  // As README.md tells an operator to: it takes a restart.
  await first.query('alter system set wal_level = logical')
  await first.end()
  await servers.part('postgres').stop()
  await servers.part('postgres').start()
  const sql = await connect(url)
  const runFile = async (name: string) => {
    await sql.query(`begin; ${readFileSync(guideFile(name), 'utf8')}; commit`)
  }
  await runFile('shop.sql')
  const stop = () => sql.end().then(servers.forget)
  return { url, password: randomBytes(9).toString('hex'), sql, runFile, stop }
}

export async function connect(url: URL): Promise<Client> {
  const client = new Client({ connectionString: url.href })
  // A client whose test has failed already; what a query fails with, it throws.
  client.on('error', () => {})
  await client.connect()
  return client
}

export type Festival = { organizationId: string; eventId: string }

/** Creates an organization with an event. */
export async function createFestival(sql: Client): Promise<Festival> {
  const organization = await sql.query<{ id: string }>(
    `insert into organizations (name, status) values ('Pro Loco', 'ActiveDayPass') returning id`,
  )
  const organizationId = organization.rows[0]?.id ?? ''
  return { organizationId, eventId: await createEvent(sql, organizationId, 4, `'Item ' || n`) }
}

/** Creates an event with an open evening and a menu of some items, which an SQL expression of `n` names. */
export async function createEvent(sql: Client, organizationId: string, items: number, name: string) {
  const event = await sql.query<{ id: string }>(
    `insert into events (organization_id, name, starts_at, time_zone)
     values ($1, 'Sagra', '2026-09-04 18:00+02', 'Europe/Rome') returning id`,
    [organizationId],
  )
  const eventId = event.rows[0]?.id ?? ''
  await sql.query(`insert into areas values ($1, 1, 'Kitchen'), ($1, 2, 'Bar')`, [eventId])
  await sql.query(`insert into days values ($1, 41, '2026-09-04', '2026-09-04 18:00+02')`, [eventId])
  await sql.query(`insert into menu_items select $1, n, ${name}, ${name} from generate_series(1, $2) n`, [
    eventId,
    items,
  ])
  return eventId
}

/** The name that no record may hold; it is in every column of the shop that Tally does not need. */
export const customer = `Ada Lovelace ${randomBytes(4).toString('hex')}`

/** Takes an order of 1 to 3 lines, some giving back; each second time constraints are immediate. Returns its id. */
export async function takeOrder(sql: Client, { eventId }: Festival, status = 'Paid'): Promise<string> {
  const lines = Array.from({ length: randomInt(1, 4) }, (_, at) => ({
    position: at + 1,
    item: randomInt(1, 5),
    quantity: randomInt(1, 5) * (randomInt(6) === 0 ? -1 : 1),
    cents: randomInt(1, 3_000) * (randomInt(6) === 0 ? -1 : 1),
  }))
  const cents = lines.reduce((sum, line) => sum + line.quantity * line.cents, 0)
  await sql.query('begin')
  const order = await sql.query<{ id: string }>(
    `insert into orders (event_id, day_id, area_id, number, status, ordered_at, payment_method, amount_paid, total,
       table_number, customer_name, customer_email)
     values ($1, 41, $2, $3, $4, '2026-09-04 20:00+02', 'Cash', $5, $5, '12', $6, $6) returning id`,
    [eventId, randomInt(1, 3), String(randomInt(1, 1_000)), status, cents / 100, customer],
  )
  const id = order.rows[0]?.id ?? ''
  if (randomInt(2) === 0) await sql.query('set constraints all immediate; set constraints all deferred')
  for (const { position, item, quantity, cents } of lines)
    await sql.query(`insert into lines values ($1, $2, $3, 'Item ' || $3::int, $4, $5, $6)`, [
      id,
      position,
      item,
      quantity,
      cents / 100,
      customer,
    ])
  await sql.query('commit')
  return id
}

/** Changes an order: its status, a line with the total, a line that goes, or a line alone (a portion on the house). */
export async function changeOrder(sql: Client, id: string): Promise<void> {
  const kind = randomInt(5)
  const more =
    'update lines set quantity = quantity + sign(quantity)::int where order_id = $1 and position = 1'
  if (kind === 4) return void (await sql.query(more, [id]))
  await sql.query('begin')
  if (kind === 0) await sql.query(`update orders set status = 'Completed' where id = $1`, [id])
  if (kind === 1) await sql.query(`update orders set status = 'Cancelled' where id = $1`, [id])
  if (kind === 2) await sql.query(more, [id])
  if (kind === 3) await sql.query('delete from lines where order_id = $1 and position = 2', [id])
  await sql.query(
    `update orders set total = (select sum(quantity * unit_price) from lines where order_id = orders.id)
     where id = $1`,
    [id],
  )
  await sql.query('commit')
}

/** Refunds one portion of an order's first line, less a fee every other time, or a little money. */
export async function refundOrder(sql: Client, id: string): Promise<void> {
  const price = '(select abs(unit_price) from lines where order_id = orders.id and position = 1)'
  const [ofItem, fee] = [randomInt(2) === 0, randomInt(2)]
  await sql.query('begin')
  const refund = await sql.query<{ id: string }>(
    `insert into refunds (order_id, refunded_at, reason, amount)
     select id, '2026-09-04 21:00+02', $2, ${ofItem ? `greatest(${price} - ${fee}, 0)` : '0.5'}
     from orders where id = $1 returning id`,
    [id, customer],
  )
  if (ofItem)
    await sql.query(
      `insert into refund_lines (refund_id, position, menu_item_id, quantity, amount)
       select $1, 1, menu_item_id, 1, abs(unit_price) from lines where order_id = $2 and position = 1`,
      [refund.rows[0]?.id, id],
    )
  await sql.query('commit')
}

/** Takes back the last refund of an order, if it has one: the bank has returned the money. */
export async function failRefund(sql: Client, id: string): Promise<void> {
  await sql.query('begin')
  const refund = await sql.query<{ id: string }>(
    `update refunds set amount = 0 where id = (select max(id) from refunds where order_id = $1) returning id`,
    [id],
  )
  await sql.query('delete from refund_lines where refund_id = $1', [refund.rows[0]?.id])
  await sql.query('commit')
}
