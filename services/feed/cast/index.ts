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

/** The organizations that the simulation feeds, for who wants to make a key for one of them. */
export function listOrganizations(): { organizationId: string; name: string }[] {
  return festivals.map(({ organizationId, organizationName }) => ({ organizationId, name: organizationName }))
}
