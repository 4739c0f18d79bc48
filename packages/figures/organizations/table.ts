import type { OrganizationStatus } from '@tally/contract'

declare module '@tally/platform/database' {
  interface Database {
    organizations: OrganizationTable
  }
}

/**
 * One row per organization; `version` 0 while only events of it have arrived. `revision` is that of the last batch that
 * changed the organization or its list of events.
 */
export type OrganizationTable = {
  organization_id: string
  version: number
  name: string
  status: OrganizationStatus
  revision: number
}
