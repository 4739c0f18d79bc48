/** Headers that differ from one answer to the next. */
const passing = /^(date|x-request-id|x-ratelimit-\w+|retry-after|tally-as-of|content-length): /i
const times = /"(generatedAt|asOf|requestId)":(?:"[^"]*"|null)/g

/** The answers in what a connection received, without what differs by time; each header on a line, in one order. */
export function answersIn(text: string): string[] {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter(answer => answer !== '')
    .map(answer => {
      const end = answer.indexOf('\r\n\r\n')
      const [status = '', ...headers] = answer.slice(0, end < 0 ? undefined : end).split('\r\n')
      const body = end < 0 ? 'NO END OF HEADERS' : answer.slice(end + 4)
      const length = /^content-length: (\d+)$/im.exec(headers.join('\n'))?.[1]
      const isWhole = length === undefined || body === '' || body.length === Number(length)
      const kept = headers.filter(header => !passing.test(header)).map(lowerName)
      const said = body.replaceAll(times, '"$1":')
      return [status, ...kept.sort(), '', isWhole ? said : `NOT OF ITS LENGTH: ${said}`, ''].join('\r\n')
    })
}

const lowerName = (header: string): string => {
  const colon = header.indexOf(':')
  return header.slice(0, colon).toLowerCase() + header.slice(colon)
}
