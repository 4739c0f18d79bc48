import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeRecord, type RecordType } from '@tally/contract'
import { freshDatabase } from '@tally/testkit/servers/database'
import { Client } from 'pg'

const guide = join(import.meta.dirname, '../../docs/guides/outbox')
const fileOf = (name: string) => readFileSync(join(guide, name), 'utf8')

/** What the outbox wrote, as Debezium would send it. */
export type Written = { type: RecordType; key: string; value: string }

/** The order database of docs/guides/outbox with its outbox, in a database of its own on the run's server. */
export type ShopDatabase = {
  /** Opens a session; `drop` ends it. */
  connect: () => Promise<Client>
  drop: () => Promise<void>
}

/** A trigger keeps what was written to the outbox: as the log does, only what was not rolled back. */
const keepWritten = `
create table written (at bigint generated always as identity, type text, key text, value text);
create function keep_written() returns trigger language plpgsql as $$
begin
  insert into written (type, key, value) values (new.aggregatetype, new.aggregateid, new.payload);
  return null;
end $$;
create trigger keep_written after insert on outbox for each row execute function keep_written();`

export async function openShopDatabase(): Promise<ShopDatabase> {
  const database = await freshDatabase({ migrated: false })
  const sessions: Client[] = []
  const connect = async () => {
    const client = new Client({ connectionString: database.url })
    // It is ended with its database; what a query fails with, the query throws.
    client.on('error', () => {})
    await client.connect()
    sessions.push(client)
    return client
  }
  const sql = await connect()
  // A role belongs to the server, where another test file may create the same one.
  const [outbox] = fileOf('outbox.sql').split('-- What Debezium connects as')
  await sql.query(`begin; ${fileOf('shop.sql')}; ${outbox}; ${keepWritten}; commit`)
  const drop = async () => {
    await Promise.all(sessions.map(session => session.end()))
    await database.drop()
  }
  return { connect, drop }
}

/** What the outbox has written, in order, as far as this session sees it; of one type only if it is named. */
export async function writtenBy(sql: Client, type?: RecordType): Promise<Written[]> {
  const { rows } = await sql.query<Written>(
    'select type, key, value from written where $1::text is null or type = $1 order by at',
    [type],
  )
  return rows
}

/** What the projector makes of a record. */
export const judge = ({ type, key, value }: Written) =>
  decodeRecord(type, Buffer.from(key), Buffer.from(value))
