import { problemTypes } from '@tally/contract'
import { expect, test } from 'vitest'
import { listGuides, llmsText, readRecipes } from './guides.ts'
import { guideBody } from './layout.ts'

const guides = listGuides().map(({ read }) => read())

test('the guide of each problem type begins with the status, title and help text that the API answers', () => {
  for (const [type, { status, title, help }] of Object.entries(problemTypes)) {
    const guide = guides.find(({ path }) => path === `/docs/guide/errors/${type}`)
    expect(guide?.markdown.startsWith(`# ${status} ${title}\n\n${help}\n\n`), type).toBe(true)
    expect(guide?.html).toContain('<h2 id="what-to-do">What to do</h2>')
  }
})

test('the index of the errors has a row for each problem type', () => {
  const index = guides.find(({ path }) => path === '/docs/guide/errors')?.markdown ?? ''
  for (const [type, { status }] of Object.entries(problemTypes))
    expect(index).toContain(`| ${status} | [/problems/${type}](/docs/guide/errors/${type}.md) |`)
})

test('links lead to pages of the service, which says nothing of what only the repository has', () => {
  const index = guides[0]?.html
  expect(index).toContain('<a href="/docs/guide/first-answer">First answer</a>')
  expect(index).toContain('<a href="/docs">reference</a>')
  const all = guides.map(({ html }) => html).join('')
  expect(all).not.toMatch(/href="[^"]*\.(md|ts)"|>Producers<|Outbox|checkout|npm start/)
})

test('the recipes link to their files, as pages and as Markdown', () => {
  const page = guides.find(({ path }) => path === '/docs/guide/recipes')
  const paths = readRecipes().map(({ path }) => path)
  expect(paths).toHaveLength(3)
  for (const path of paths) {
    expect(page?.html).toContain(`<a href="${path}">`)
    expect(page?.markdown).toContain(`](${path})`)
  }
})

test('links in Markdown lead to the Markdown of other pages, and none to a file of the repository', () => {
  const index = guides[0]?.markdown
  expect(index).toContain('[First answer](/docs/guide/first-answer.md)')
  expect(index).toContain('[reference](/api/v1/openapi.json)')
  for (const { markdown } of guides)
    for (const [, href] of markdown.matchAll(/\]\(([^)]+)\)/g))
      if (!readRecipes().some(({ path }) => path === href))
        expect(href).toMatch(
          /^(#|https?:|\/docs\/(client\.js|dashboard\/)$|\/api\/v1\/openapi\.json$|\/docs\/guide(\/[a-z/-]+)?\.md(#|$))/,
        )
})

test('llms.txt names every guide with its first sentence', () => {
  const text = llmsText(guides)
  expect(text).toMatch(/^# Tally API\n\n> /)
  for (const { path, title } of guides) expect(text).toContain(`- [${title}](${path}.md): `)
})

test('a guide is rendered once', () => {
  const [first] = listGuides()
  expect(first?.read()).toBe(first?.read())
})

test('each guide leads to its neighbours in the list of guides, and its contents to its titles', () => {
  const listed = [...(guides[0]?.html ?? '').matchAll(/href="(\/docs\/guide\/[^"#]+)"/g)].map(
    ([, path]) => path,
  )
  const chapters = guides.filter(({ path }) => !path.includes('/errors/'))
  expect(chapters.map(({ path }) => path)).toEqual(['/docs/guide', ...listed])
  for (const [index, guide] of chapters.entries()) {
    expect(guide.previous?.title).toBe(chapters[index - 1]?.title)
    expect(guide.next?.title).toBe(chapters[index + 1]?.title)
  }
  for (const guide of guides) {
    const body = guideBody(guide)
    for (const [, id] of body.matchAll(/<a href="#([^"]+)">/g)) expect(body).toContain(` id="${id}"`)
    if (guide.path.includes('/errors/')) expect(body).not.toContain('rel="next"')
  }
})

test.each([
  ['first-answer', ['curl', 'Node', 'Python', 'Go', 'Arduino and ESP32']],
  ['polling', ['Node with the client', 'Python by hand']],
  ['recipes', []],
])('the languages of %s are tabs of which the first is open, with all of their code', (name, languages) => {
  const { html = '', markdown = '' } = guides.find(({ path }) => path === `/docs/guide/${name}`) ?? {}
  const tabs = html.split('<details name="language"').slice(1)
  expect(tabs.map(tab => /<h2>(.+)<\/h2>/.exec(tab)?.[1])).toEqual(languages)
  expect(tabs.map(tab => tab.startsWith(' open>'))).toEqual(languages.map((_, index) => index === 0))
  expect(html.match(/<pre/g)).toHaveLength(markdown.match(/^```\w/gm)?.length ?? 0)
  expect(html.match(/<div/g)?.length).toBe(html.match(/<\/div>/g)?.length)
})
