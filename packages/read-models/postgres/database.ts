import type { Transaction } from 'kysely'
import type { DailyTable } from '../daily/table.ts'
import type { EventHeadTable, EventTable } from '../events/table.ts'
import type { HourlyTable } from '../hourly/table.ts'
import type { ItemTable } from '../items/table.ts'
import type { PartitionLogTable } from '../logs/table.ts'
import type { OffsetTable, WatermarkTable } from '../offsets/table.ts'
import type { OrderSlotTable } from '../orderSlots/table.ts'
import type { OrderTable } from '../orders/table.ts'
import type { OrganizationTable } from '../organizations/table.ts'
import type { RefundTable } from '../refunds/table.ts'
import type {
  AdministratorTable,
  AdminSessionTable,
  AuditEntryTable,
  SignInAttemptTable,
} from './administrationTables.ts'
import type { ApiKeyTable } from './apiKeyTable.ts'
import type { RebuildTable, ReplayedLetterTable } from './operationTables.ts'

/** Every table, for kysely; each is described in its model's folder. */
export type Database = {
  shard_offsets: OffsetTable
  partition_logs: PartitionLogTable
  shard_watermarks: WatermarkTable
  organizations: OrganizationTable
  event_heads: EventHeadTable
  events: EventTable
  orders: OrderTable
  refunds: RefundTable
  daily_counters: DailyTable
  hourly_counters: HourlyTable
  item_counters: ItemTable
  order_slots: OrderSlotTable
  api_keys: ApiKeyTable
  replayed_letters: ReplayedLetterTable
  rebuilds: RebuildTable
  administrators: AdministratorTable
  admin_sessions: AdminSessionTable
  sign_in_attempts: SignInAttemptTable
  audit_entries: AuditEntryTable
}
export type Tx = Transaction<Database>
