import { z } from 'zod'
import { organizationId, version } from '../values/ids.ts'
import { name } from '../values/text.ts'

export const organizationStatus = z.enum(['Trial', 'ActiveDayPass', 'Inactive'])
export type OrganizationStatus = z.infer<typeof organizationStatus>

/** A record of the organizations topic (docs/records.md, Organization). */
export const organization = z
  .object({ organizationId, version, name, status: organizationStatus })
  .meta({ title: 'Organization' })
export type Organization = z.output<typeof organization>

/** The example of docs/records.md, Organization. */
export const organizationExample = {
  organizationId: '0b5a0000-0000-4000-8000-000000000001',
  version: 3,
  name: 'Pro Loco San Vito',
  status: 'ActiveDayPass',
}
