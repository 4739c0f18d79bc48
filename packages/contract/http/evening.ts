const generatedAt = '2026-09-05T19:31:07.512Z'
const asOf = '2026-09-05T19:31:07.100Z'
const eventId = '7c1e0000-0000-4000-8000-000000000001'

/** The `meta` that the examples of all endpoints share, and the items that are sold in them. */
export const evening = {
  eventId,
  ofList: { generatedAt, eventId: '00000000-0000-0000-0000-000000000000' },
  ofEvent: { generatedAt, eventId, asOf },
  ofDay: { generatedAt, eventId, asOf, dayId: 42 },
  fritto: { menuItemId: 7, itemName: 'Fritto misto' },
  acqua: { menuItemId: 9, itemName: 'Acqua' },
}
