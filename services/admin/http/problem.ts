/** An error page: a status, a title, and a sentence on what to do. */
export class PageProblem extends Error {
  readonly status: number
  readonly sentence: string
  readonly retryAfterSeconds: number | undefined
  /** Where the browser goes from the page, at once. */
  readonly next: string | undefined

  constructor(status: number, title: string, sentence: string, retryAfterSeconds?: number, next?: string) {
    super(title)
    this.status = status
    this.sentence = sentence
    this.retryAfterSeconds = retryAfterSeconds
    this.next = next
  }
}

/** One page for what does not exist and what is another organization's, so that it does not reveal which. */
export const notFound = () =>
  new PageProblem(404, 'Page not found', 'This page does not exist, or you do not have access to it.')

export const badForm = () =>
  new PageProblem(400, 'Bad request', 'A field has an invalid value. Go back and try again.')

export const formExpired = (next: string) =>
  new PageProblem(403, 'This form has expired', 'Open it again, check it, and send it.', undefined, next)

export const tooManyKeys = () =>
  new PageProblem(
    409,
    'Too many API keys',
    'Your organization has as many active keys as allowed, or made too many today. Revoke keys that you no longer need.',
  )

export const unavailable = () =>
  new PageProblem(
    503,
    'Temporarily unavailable',
    'A part of Tally does not answer. Try again in a moment.',
    2,
  )

export const tooManyAttempts = ({ waitSeconds }: { waitSeconds: number }) =>
  new PageProblem(429, 'Too many attempts', `Try again in ${Math.ceil(waitSeconds / 60)} min.`, waitSeconds)
