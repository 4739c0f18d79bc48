/** The addresses of a day's sheet and files. */
export const settleLinks = (eventId: string, dayId: number) => {
  const of = `eventId=${eventId}&day=${dayId}`
  return {
    sheet: `/live/day?${of}`,
    figures: `/live/day.csv?${of}`,
    orders: `/live/orders.csv?${of}`,
    excel: {
      sheet: `/live/sheet.xlsx?${of}`,
      figures: `/live/day.xlsx?${of}`,
      orders: `/live/orders.xlsx?${of}`,
    },
  }
}
