/** `21:00`, in the event's time zone. */
export const hourName = (hour: number): string => `${String(hour).padStart(2, '0')}:00`
