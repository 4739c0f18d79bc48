-- Sends everything that the database holds. Run it when the connector runs for the first time, and whenever Tally may
-- have missed something. It may run twice, and while orders are taken: Tally ignores versions that it has.
insert into outbox (aggregatetype, aggregateid, payload)
select 'organizations', key, payload from organization_records
union all
select 'events', key, payload from event_records
union all
select 'orders', key, payload from order_records
union all
select 'refunds', key, payload from refund_records;
