/** The addresses of the sheet and the files of a day, or without one of all days of a festival. */
export function settleLinks(eventId: string, dayId?: number) {
  const isDay = dayId !== undefined
  const of = isDay ? `eventId=${eventId}&day=${dayId}` : `eventId=${eventId}`
  const name = isDay ? 'day' : 'days'
  return {
    sheet: `/live/${name}?${of}`,
    figures: `/live/${name}.csv?${of}`,
    orders: `/live/orders.csv?${of}`,
    excel: {
      sheet: `/live/${isDay ? '' : 'days-'}sheet.xlsx?${of}`,
      figures: `/live/${name}.xlsx?${of}`,
      orders: `/live/orders.xlsx?${of}`,
    },
  }
}
