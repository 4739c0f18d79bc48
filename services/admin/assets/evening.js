/** The hours of an evening with those in between; 00:00 comes after 23:00. */
export const withPauses = hours =>
  hours.flatMap((hour, index) => {
    const next = index + 1 < hours.length ? hours[index + 1] : hour + 1
    const length = (next - hour + 23) % 24
    return [hour, ...Array.from({ length }, (_, more) => (hour + 1 + more) % 24)]
  })

/** `21:00`, in the event's time zone. */
export const hourName = hour => `${String(hour).padStart(2, '0')}:00`

export const centsOf = euros => Math.round(euros * 100) + 0
