/** Test files that may take longer than 20 s, and why. */
export const mayBeSlow: Record<string, string> = {}

/** The longest that any other file may take, on two cores that nothing else uses. */
export const mostSeconds = 20
