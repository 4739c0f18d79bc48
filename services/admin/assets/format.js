/** How one locale writes figures, and dates YYYY-MM-DD; for the pages and for their scripts. */
export function figuresIn(locale) {
  const numbers = new Intl.NumberFormat(locale)
  const euro = { style: 'currency', currency: 'EUR' }
  const euros = new Intl.NumberFormat(locale, euro)
  const wholeEuros = new Intl.NumberFormat(locale, {
    ...euro,
    minimumFractionDigits: 0,
    maximumFractionDigits: 0,
  })
  const percents = new Intl.NumberFormat(locale, { style: 'percent' })
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const weekdays = new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  })
  const midnight = day => new Date(`${day}T00:00:00Z`)
  return {
    // `+ 0` turns -0 into 0: Intl writes its sign.
    whole: count => numbers.format(count + 0),
    money: amount => euros.format(amount + 0),
    wholeMoney: amount => wholeEuros.format(Math.round(amount) + 0),
    percent: hundredths => percents.format(hundredths / 100),
    date: day => days.format(midnight(day)),
    weekday: day => weekdays.format(midnight(day)),
  }
}
