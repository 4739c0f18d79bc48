import { readFileSync } from 'node:fs'
import { Marked, type Tokens } from 'marked'
import { fencesOf } from '../../clients/blocks.ts'

/** The fenced blocks under a title of a page in docs/, in reading order. Throws if there is no such title. */
export function blocksUnder(page: string, title: string): { language: string; text: string }[] {
  const tokens = new Marked().lexer(readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8'))
  const at = tokens.findIndex(token => token.type === 'heading' && (token as Tokens.Heading).text === title)
  if (at === -1) throw new Error(`docs/${page} has no title ${title}`)
  const after = tokens.slice(at + 1)
  const end = after.findIndex(token => token.type === 'heading')
  const section = end === -1 ? after : after.slice(0, end)
  return fencesOf(section).map(({ lang = '', text }) => ({ language: lang, text }))
}
