/** What answers may say while something is broken (docs/reliability.md, When a part is down). */
export type Allowed =
  /** All answers are 200. */
  | 'everything'
  /** Orders may answer 503. */
  | 'no-orders'
  /** All may answer 503. */
  | 'nothing'

/**
 * `mayGoBack`: Postgres lost commits, so that `asOf` and the figures may be older than those said before. So they may
 * while Postgres is away: what it said last may not have come to Redis, which alone answers.
 */
export type Rule = { answers: Allowed; mayGoBack?: boolean | undefined }

/** How long a process may continue with what it began while a part was away, or with its pause after time-outs. */
const comeBackMs = 6_000

/** Remembers which rule applied when: a question asked under an old rule may be answered by it. */
export function openRules() {
  const rules: (Rule & { sinceMs: number })[] = [{ answers: 'everything', sinceMs: 0 }]
  /** Whether a condition held at any time from shortly before the question until now. */
  const held = (askedMs: number, graceMs: number, holds: (rule: Rule) => boolean): boolean =>
    rules.some((rule, index) => {
      const untilMs = rules[index + 1]?.sinceMs ?? Number.POSITIVE_INFINITY
      return untilMs + graceMs >= askedMs && rule.sinceMs <= Date.now() && holds(rule)
    })
  return {
    set: (rule: Rule) => void rules.push({ ...rule, sinceMs: Date.now() }),
    mayFail: (path: string, askedMs: number) =>
      held(
        askedMs,
        comeBackMs,
        ({ answers }) => answers === 'nothing' || (answers === 'no-orders' && isOrders(path)),
      ),
    /** Whether what was said before may be unknown: Postgres lost commits. */
    mayLack: (askedMs: number) => held(askedMs, 0, ({ mayGoBack = false }) => mayGoBack),
    mayGoBack: (askedMs: number) =>
      held(askedMs, 0, ({ mayGoBack = false }) => mayGoBack) ||
      held(askedMs, comeBackMs, ({ answers }) => answers !== 'everything'),
  }
}
export type Rules = ReturnType<typeof openRules>

const isOrders = (path: string) => path.includes('/orders') && !path.includes('/analytics/')
