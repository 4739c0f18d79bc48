/** One server-sent event. `json` has to be on one line, as JSON.stringify and the projector write it. */
export const serverSentEvent = (event: string, json: string): string => `event: ${event}\ndata: ${json}\n\n`
