import { setTimeout as sleep } from 'node:timers/promises'
import { open } from '../raw.ts'
import { answersIn } from './answers.ts'
import type { Conversation, Known } from './conversations.ts'

/** How the bytes of a conversation arrive. The client shuts its sending half at the end of each. */
type Delivery = {
  name: string
  /** Sends a request of its own first and drops its answer, so that the conversation is behind it. */
  isBehind?: boolean
  segments: (conversation: Conversation) => string[]
  /** Waits for the answer to each segment, this long at most; else only long enough for a segment of its own. */
  patienceMs: number
}

const whole = ({ pieces }: Conversation) => [pieces.join('')]

function cut({ pieces, cuts }: Conversation): string[] {
  const text = pieces.join('')
  const places = [0, ...cuts.map(place => Math.floor(place * text.length)).sort((a, b) => a - b), text.length]
  return places.slice(1).map((to, index) => text.slice(places[index], to))
}

/** Node's parser reads the first; the reader of plain requests reads what comes behind a first request and alone. */
export const deliveries: Delivery[] = [
  { name: 'in one segment', segments: whole, patienceMs: 0 },
  { name: 'in one segment, with a late end', segments: whole, patienceMs: 40 },
  { name: 'in segments', segments: cut, patienceMs: 2 },
  { name: 'in one segment behind a first request', isBehind: true, segments: whole, patienceMs: 0 },
  { name: 'in segments behind a first request', isBehind: true, segments: cut, patienceMs: 2 },
  { name: 'piece by piece', segments: ({ pieces }) => pieces, patienceMs: 15 },
  {
    name: 'piece by piece behind a first request',
    isBehind: true,
    segments: ({ pieces }) => pieces,
    patienceMs: 15,
  },
]

/** What a client saw: the answers without what differs by time, and what must never be. */
export type Seen = { answers: string[]; faults: string[]; isTorn: boolean }

const longestMs = 20_000

export async function deliver(
  address: string,
  known: Known,
  conversation: Conversation,
  delivery: Delivery,
): Promise<Seen> {
  const { isBehind = false, segments, patienceMs } = delivery
  const socket = open(address)
  let text = ''
  let isTorn = false
  let hasEnded = false
  let isShut = false
  const faults: string[] = []
  socket.setEncoding('latin1').on('data', (more: string) => {
    text += more
  })
  // Without it, Node's client would close the connection at once.
  socket.allowHalfOpen = true
  socket.on('error', () => {
    isTorn = true
  })
  socket.on('end', () => {
    hasEnded = true
    if (!isShut && !/\r\nconnection: close\r\n/i.test(answersIn(text).at(-1) ?? ''))
      faults.push('the connection ended without a word')
    socket.end()
  })
  const closed = new Promise(resolve => socket.once('close', resolve))
  const answered = async (length: number, ms: number) => {
    for (
      const until = performance.now() + ms;
      performance.now() < until && !hasEnded && !socket.destroyed;
    ) {
      if (text.length > length) return
      await sleep(1)
    }
  }
  if (isBehind) {
    socket.write(`GET ${known.path} HTTP/1.1\r\nHost: tally\r\nX-Api-Key: ${known.token}\r\n\r\n`)
    await answered(0, longestMs)
    while (!text.endsWith('}')) await sleep(1)
    text = ''
  }
  for (const segment of segments(conversation)) {
    const before = text.length
    if (segment === '' || hasEnded || socket.destroyed) continue
    socket.write(segment, 'latin1')
    if (patienceMs > 0) await answered(before, patienceMs)
  }
  isShut = true
  socket.end()
  const timer = setTimeout(() => {
    faults.push(`the connection is open after ${longestMs / 1_000} s`)
    socket.destroy()
  }, longestMs)
  await closed
  clearTimeout(timer)
  const answers = answersIn(text)
  if (answers.some(answer => /^http\/1\.1 5/i.test(answer))) faults.push('a 5xx')
  const finals = answers.filter(answer => !/^http\/1\.1 1/i.test(answer))
  if (!isTorn && text.match(/\r\nx-request-id: /gi)?.length !== (finals.length || undefined))
    faults.push('an answer without X-Request-Id')
  return { answers, faults, isTorn }
}
