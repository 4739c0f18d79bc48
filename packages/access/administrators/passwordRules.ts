import { maxPasswordLength, minPasswordLength } from './password.ts'

/** On zxcvbn's scale from 0 to 4: 3 stands for at least 10^8 guesses. */
const enough = 3

/**
 * Why a new password cannot be used, as the end of a sentence that begins with "the password"; undefined if it can. The
 * lists of common passwords come with the package: nothing is sent anywhere (OWASP ASVS 2.1.1, 2.1.2, 2.1.7).
 */
export async function passwordProblem(password: string, email: string): Promise<string | undefined> {
  const { length } = password
  if (length < minPasswordLength || length > maxPasswordLength)
    return `takes ${minPasswordLength} to ${maxPasswordLength} characters, got ${length}`
  judge ??= createJudge()
  const { check } = await judge
  const { score } = check(password.normalize('NFKC'), [email, ...email.split(/[@.]/), 'tally'])
  if (score >= enough) return undefined
  return 'is too easy to guess: use several words that do not belong together'
}

let judge: ReturnType<typeof createJudge> | undefined

/** The lists take 0.2 s and 40 MB, so they are loaded when the first new password is judged. */
async function createJudge() {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  const factory = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
  return { check: (password: string, personal: string[]) => factory.check(password, personal) }
}
