import type { Festival } from './festival.ts'
import { liffeyStreetFood } from './liffeyStreetFood.ts'
import { nachtschicht } from './nachtschicht.ts'
import { sagraDelPesce } from './sagraDelPesce.ts'
import { verbenaDelOlivar } from './verbenaDelOlivar.ts'

/** The festivals of a simulated evening. Their organizations keep their ids, whatever the seed. */
export const festivals: readonly Festival[] = [
  sagraDelPesce,
  liffeyStreetFood,
  nachtschicht,
  verbenaDelOlivar,
]

/** The simulated organizations, so that a key can be created for one of them. */
export function listOrganizations(): { organizationId: string; name: string }[] {
  return festivals.map(({ organizationId, organizationName }) => ({ organizationId, name: organizationName }))
}
