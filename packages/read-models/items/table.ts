/** One row a (day, area, menu item) over confirmed orders, before and apart from refunds; area 0 for all areas. */
export type ItemTable = {
  event_id: string
  day_id: number
  area_id: number
  menu_item_id: number
  orders: number
  quantity: number
  gross_cents: number
  refunded_quantity: number
  refunded_cents: number
}
