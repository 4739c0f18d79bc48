-- The database roles of Compose (docs/install.md, Database roles), made before each start by the service `roles`: with
-- the server's superuser, which nothing else uses. It may run any number of times. A database of an earlier Tally, which
-- connected as that superuser, passes to tally_owner.
\set ON_ERROR_STOP on
\getenv owner_password POSTGRES_OWNER_PASSWORD
\getenv query_password POSTGRES_QUERY_PASSWORD
\getenv projector_password POSTGRES_PROJECTOR_PASSWORD
\getenv admin_password POSTGRES_ADMIN_PASSWORD

-- Neither the log of the server nor an error shows the passwords.
set log_statement = none;
set log_min_error_statement = panic;
begin;
select format('create role %I', name) from unnest(array['tally_owner', 'tally_query', 'tally_projector', 'tally_admin']) as name
where not exists (select from pg_roles where rolname = name) \gexec
alter role tally_owner login password :'owner_password';
alter role tally_query login password :'query_password';
alter role tally_projector login password :'projector_password';
alter role tally_admin login password :'admin_password';

alter database :"DBNAME" owner to tally_owner;
alter schema public owner to tally_owner;
revoke create on schema public from public;

-- Not `reassign owned`, which refuses the superuser that the server was made with. Sequences of columns and types of
-- tables pass with their tables.
select format('alter %s %s owner to tally_owner', kind, name)
from (
  select case relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end, oid::regclass::text, relnamespace, relowner
  from pg_class where relkind in ('r', 'v') or relkind = 'S' and not exists (
    select from pg_depend where objid = pg_class.oid and classid = 'pg_class'::regclass and deptype in ('a', 'i') and refobjsubid > 0
  )
  union all
  select 'routine', oid::regprocedure::text, pronamespace, proowner from pg_proc
  union all
  select 'type', oid::regtype::text, typnamespace, typowner from pg_type where typtype in ('d', 'e')
) as objects (kind, name, namespace, owner)
where namespace = 'public'::regnamespace and owner = current_user::regrole \gexec
-- What an interrupted `tally rebuild --from-kafka` of the superuser left; the next run begins again.
select 'drop schema tally_rebuild cascade' from pg_namespace
where nspname = 'tally_rebuild' and nspowner = current_user::regrole \gexec
commit;
