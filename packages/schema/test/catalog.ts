import { sql, type Transaction } from 'kysely'

/** A table, view, sequence, column, constraint, index, function or trigger of the schema. */
type Entry = {
  kind: string
  name: string
  /** The table that it belongs to, if any. */
  relation: string | null
  /** What must stay as it is. */
  shape: string
  /** Of a view: whether it can be written; of a column: whether a writer may omit it; of an index: whether unique. */
  flag: boolean | null
  /** Of a constraint: its columns. */
  columns: string[] | null
}
export type Catalog = Map<string, Entry>

/** Everything in the schema `public` that a program may rely on. */
export async function readCatalog(db: Transaction<never>): Promise<Catalog> {
  const { rows } = await sql<Entry>`
with relations as (
  select oid, relname, relkind from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'm', 'S')
)
select 'relation' as kind, relname::text as name, null as relation, relkind::text as shape,
  relkind = 'v' and pg_relation_is_updatable(oid, false) = 28 as flag, null::text[] as columns
from relations
union all
select 'column', attname, relname,
  format_type(atttypid, atttypmod) || case when attnotnull or relkind = 'v' then '' else ' null' end,
  not attnotnull or atthasdef or attidentity <> '', null
from pg_attribute join relations on attrelid = relations.oid and relkind in ('r', 'v', 'm')
where attnum > 0 and not attisdropped
union all
select 'constraint', conname, relname, pg_get_constraintdef(c.oid), null,
  array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any (conkey))
from pg_constraint c join relations on conrelid = relations.oid where contype <> 'n'
union all
select 'index', i.relname, relations.relname, pg_get_indexdef(indexrelid), indisunique, null
from pg_index join pg_class i on i.oid = indexrelid join relations on relations.oid = indrelid
where not exists (select 1 from pg_constraint where conindid = indexrelid)
union all
select 'function', oid::regprocedure::text, null, pg_get_function_result(oid), null, null
from pg_proc where pronamespace = 'public'::regnamespace
union all
select 'trigger', tgname, relname, 'trigger', null, null
from pg_trigger join relations on tgrelid = relations.oid where not tgisinternal
union all
select 'type', typname, null, typtype::text, null, null
from pg_type where typnamespace = 'public'::regnamespace and typtype in ('d', 'e')`.execute(db)
  return new Map(
    rows.map(entry => [`${entry.kind} ${[entry.relation, entry.name].filter(Boolean).join('.')}`, entry]),
  )
}

/**
 * What processes of the version before would notice of a migration, as sentences: something is gone or has another
 * shape, or what they write may be refused.
 */
export function noticed(before: Catalog, after: Catalog): string[] {
  // What a table keeps that is renamed, and written through a view of the former name.
  const isBehindView = ({ kind, name, relation }: Entry): boolean =>
    kind !== 'column' && after.get(`relation ${relation ?? name}`)?.flag === true
  const changed = [...before].flatMap(([name, entry]) => {
    const now = after.get(name)
    if (isBehindView(entry) || now?.shape === entry.shape) return []
    return [now === undefined ? `${name} is gone` : `${name} was ${entry.shape} and is ${now.shape}`]
  })
  const added = [...after].filter(([name]) => !before.has(name))
  const isOld = ({ relation }: Entry): boolean => before.has(`relation ${relation}`)
  const refusing = added.filter(([, entry]) => isOld(entry) && refuses(entry, before))
  return [...changed, ...refusing.map(([name]) => `${name} refuses what earlier versions write`)]
}

/** Whether something new of a table that was there may refuse a write of a program that does not know it. */
function refuses({ kind, flag, relation, columns }: Entry, before: Catalog): boolean {
  if (kind === 'column') return flag === false
  if (kind === 'index') return flag === true
  if (kind !== 'constraint') return false
  return columns === null || columns.some(column => before.has(`column ${relation}.${column}`))
}
