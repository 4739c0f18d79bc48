import { databaseOfFile } from '@tally/testkit/servers/database'
import { sql, type Transaction } from 'kysely'
import { expect, test } from 'vitest'
import { migrations } from '../migrate.ts'
import { noticed, readCatalog } from '../test/catalog.ts'

/** The baseline, which only an empty database runs. */
const baseline = '0016-column-statistics'

const database = await databaseOfFile({ migrated: false })

test('processes of the previous version notice nothing of a migration that is not a contract step', async () => {
  const found = new Map<string, string[]>()
  for (const [name, { up }] of Object.entries(migrations)) {
    await database.db.transaction().execute(async tx => {
      const before = await readCatalog(tx as unknown as Transaction<never>)
      await up(tx)
      const isExpansion = name > baseline && !name.includes('-contract-')
      if (isExpansion)
        found.set(name, noticed(before, await readCatalog(tx as unknown as Transaction<never>)))
    })
  }
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries([...found.keys()].map(name => [name, []])))
})

test.for([
  ['alter table orders drop column status', /^column orders.status is gone$/],
  ['alter table orders rename column status to state', /^column orders.status is gone$/],
  ['alter table refunds rename to reversals', /^relation refunds is gone$/],
  [
    'alter table refunds rename to reversals; create view refunds as select order_id from reversals',
    /^column refunds.amount_cents is gone$/,
  ],
  ['alter table orders alter column version type text', /^column orders.version was \w+ and is text$/],
  [
    'alter table organizations alter column name drop not null',
    /^column organizations.name was text and is text null$/,
  ],
  [
    'alter table orders add column note text not null',
    /^column orders.note refuses what earlier versions write$/,
  ],
  ['alter table orders add column note text', undefined],
  ["alter table orders add column note text not null default '' check (note <> 'x')", undefined],
  ["alter table orders add constraint short check (order_id <> '')", /^constraint orders.short refuses/],
  ['create unique index orders_once on orders (order_id)', /^index orders.orders_once refuses/],
  ['create index orders_of_version on orders (version)', undefined],
  ['drop function open_epoch', /^function open_epoch\(.*\) is gone$/],
  ['create table notes (note text not null unique)', undefined],
] as const)('%s', async ([statement, sentence]) => {
  const rolledBack = new Error('rolled back')
  let found: string[] = []
  await database.db
    .transaction()
    .execute(async tx => {
      const before = await readCatalog(tx as unknown as Transaction<never>)
      await sql.raw(statement).execute(tx)
      found = noticed(before, await readCatalog(tx as unknown as Transaction<never>))
      throw rolledBack
    })
    .catch(error => {
      if (error !== rolledBack) throw error
    })
  if (sentence === undefined) expect(found).toEqual([])
  else expect(found).toContainEqual(expect.stringMatching(sentence))
})
