import type { Festival } from './festival.ts'
import { liffeyStreetFood } from './liffey-street-food.ts'
import { nachtschicht } from './nachtschicht.ts'
import { sagraDelPesce } from './sagra-del-pesce.ts'
import { verbenaDelOlivar } from './verbena-del-olivar.ts'

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
