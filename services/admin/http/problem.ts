/** What a page says that cannot be shown: a status, a title, and a sentence on what to do. */
export class PageProblem extends Error {
  readonly status: number
  readonly sentence: string
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, title: string, sentence: string, retryAfterSeconds?: number) {
    super(title)
    this.status = status
    this.sentence = sentence
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** One page for all that is not there and all that is another organization's: it does not tell which. */
export const notFound = () =>
  new PageProblem(404, 'Nothing here', 'There is nothing at this address that you may see.')

export const badForm = () =>
  new PageProblem(400, 'That did not fit', 'The form had a value that it cannot have. Go back and try again.')

export const unavailable = () =>
  new PageProblem(503, 'Not right now', 'A part of Tally does not answer. Try again in a moment.', 2)
