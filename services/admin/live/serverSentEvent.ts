/** One server-sent event; JSON has no line breaks of its own. */
export const serverSentEvent = (event: string, json: string): string => `event: ${event}\ndata: ${json}\n\n`
