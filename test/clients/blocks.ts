import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'

const docs = join(import.meta.dirname, '../../docs')

/** A fenced block: its language, what else is said after it, its text, and the `text` or `json` block that follows. */
export type Block = {
  file: string
  line: number
  language: string
  /** What the program prints before it is ended; without one it ends by itself. */
  until: string | undefined
  /** Its exit status. */
  exit: number
  text: string
  prints: { language: string; text: string } | undefined
}

/** Languages of blocks that are no programs: what one prints. */
const printed = ['text', 'json']

/** Every fenced block that is a program in these documents, which are patterns of paths in docs/, in reading order. */
export function readBlocks(patterns: string[]): Block[] {
  const files = globSync(patterns, { cwd: docs }).toSorted()
  return files.flatMap(file => {
    const source = readFileSync(join(docs, file), 'utf8')
    const fences = fencesOf(new Marked().lexer(source))
    let at = -1
    return fences.flatMap(({ lang = '', text }, index) => {
      at = source.indexOf(`\`\`\`${lang}`, at + 1)
      const [language = ''] = lang.split(' ')
      if (printed.includes(language)) return []
      const line = source.slice(0, at).split('\n').length
      const next = fences[index + 1]
      const prints = next !== undefined && printed.includes(next.lang ?? '') ? next : undefined
      const until = /until="([^"]+)"/.exec(lang)?.[1]
      const exit = Number(/exit=(\d+)/.exec(lang)?.[1] ?? 0)
      return [
        {
          file,
          line,
          language,
          until,
          exit,
          text,
          prints: prints && { language: prints.lang ?? '', text: prints.text },
        },
      ]
    })
  })
}

/** Also those in lists and quotes. */
export const fencesOf = (tokens: Token[]): Tokens.Code[] =>
  tokens.flatMap(token => {
    if (token.type === 'code') return [token as Tokens.Code]
    const inside =
      (token as { tokens?: Token[]; items?: Token[] }).tokens ?? (token as Tokens.List).items ?? []
    return fencesOf(inside as Token[])
  })
