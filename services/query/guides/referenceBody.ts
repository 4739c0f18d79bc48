import { problemTypes } from '@tally/contract'
import { marked } from 'marked'
import { escaped } from './layout.ts'
import { type Field, fieldsOf, inlined, type Schema, typeOf } from './schema.ts'

type Header = { description: string; schema: Schema }
type Operation = {
  summary: string
  tags: string[]
  description: string
  parameters: { name: string; in: string; required?: boolean; description: string; schema: Schema }[]
  responses: { 200: { content: { 'application/json': { schema: Schema; example: { data: unknown } } } } }
}
/** What the page shows of an OpenAPI document. */
type Contents = {
  info: { description: string; contact: { email?: string; url?: string } }
  tags: { name: string; description: string }[]
  paths: Record<string, { get: Operation }>
  components: { schemas: { Meta: Schema }; headers: Record<string, Header>; securitySchemes: Schemes }
}
type Schemes = Record<'apiKey' | 'bearer', { description: string }>

/** Markdown of the document, which is Tally's own, as HTML. */
const inline = (markdown: string): string => marked.parseInline(markdown, { async: false })

/** Returns the HTML of the reference: the operations of an OpenAPI document, and once what they have in common. */
export function referenceBody(document: object): string {
  const { info, tags, paths, components } = inlined(document) as Contents
  const operations = Object.entries(paths).map(([path, { get }]) => ({ path, ...get }))
  const { email, url = email && `mailto:${email}` } = info.contact
  const contact = url
    ? `<p>Questions: <a href="${escaped(url.replaceAll('"', '%22'))}">${escaped(email ?? url)}</a></p>\n`
    : ''
  const groups = tags.map(tag => ({ ...tag, own: operations.filter(({ tags }) => tags.includes(tag.name)) }))
  const contents = groups.map(
    ({ name, own }) =>
      `<p>${name}</p>\n<ul>${own.map(({ path }) => link(idOf(path), `<code>${shortOf(path)}</code>`)).join('')}</ul>\n`,
  )
  const sections = groups.map(
    ({ name, description, own }) =>
      `<h2>${name}</h2>\n<p>${inline(description)}</p>\n${own.map(sectionOf).join('')}`,
  )
  return `<nav class="contents" aria-label="Contents">
<h1>Reference</h1>
${contents.join('')}<p>All endpoints</p>
<ul>${link('requests', 'Requests')}${link('answers', 'Answers')}${link('errors', 'Errors')}</ul>
</nav>
<div>
${marked.parse(info.description, { async: false })}${contact}<p>The same as an <a href="/api/v1/openapi.json">OpenAPI 3.1 document</a>. <a href="/docs/guide/first-answer">First answer</a> says what
<code>TALLY_KEY</code> and <code>EVENT_ID</code> are in the commands below.</p>
${sections.join('')}${sharedSections(components, operations[0]?.parameters ?? [])}</div>
`
}

const link = (id: string, text: string): string => `<li><a href="#${id}">${text}</a></li>`

const idOf = (path: string): string =>
  path.replace('/api/v1/', '').replaceAll(/[{}]/g, '').replaceAll('/', '-')

/** A path without what nearly all have in common. */
const shortOf = (path: string): string => path.replace('/api/v1/', '').replace(/^events\/\{eventId\}\//, '')

/** One endpoint: what it takes and answers, next to a command and an example of its answer. */
function sectionOf({
  path,
  summary,
  description,
  parameters,
  responses,
}: Operation & { path: string }): string {
  const { schema, example } = responses[200].content['application/json']
  const taken = parameters
    .filter(parameter => parameter.in !== 'header')
    .map(({ name, required = false, description, schema }) => ({
      name,
      type: `${typeOf(schema)}${required ? ', required' : ''}`,
      description,
    }))
  const id = Array.isArray(example.data) ? '' : String((example.data as { id?: string }).id)
  const target = path.replace('{eventId}', '$EVENT_ID').replace('{id}', id)
  const command = `curl -sS -H "X-Api-Key: $TALLY_KEY" \\\n  "https://tally.example.org${target}"`
  return `<section id="${idOf(path)}">
<div>
<h3>${inline(summary)}</h3>
<p><b>GET</b> <code>${path}</code></p>
<p>${inline(description)}</p>
${taken.length === 0 ? '' : `<h4>Parameters</h4>\n${table(taken)}`}<h4>${Array.isArray(example.data) ? 'Fields in the list' : 'Fields of'} <code>data</code></h4>
${table(fieldsOf(dataOf(schema)))}</div>
<div>
<pre tabindex="0"><code>${escaped(command)}</code></pre>
<pre tabindex="0"><code>${escaped(JSON.stringify(example, null, 2))}</code></pre>
</div>
</section>
`
}

/** An envelope extends the common one with its data and meta. */
const dataOf = ({ allOf }: Schema): Schema => allOf?.at(-1)?.properties?.data ?? {}

/** What holds for all endpoints: each is said once. */
function sharedSections(
  { schemas, headers, securitySchemes }: Contents['components'],
  parameters: Operation['parameters'],
): string {
  const sent = [
    { name: 'X-Api-Key', type: '', description: securitySchemes.apiKey.description },
    { name: 'Authorization', type: '', description: securitySchemes.bearer.description },
    ...parameters
      .filter(parameter => parameter.in === 'header')
      .map(({ name, description, schema }) => ({ name, type: typeOf(schema), description })),
  ]
  const received = Object.entries(headers).map(([name, { description, schema }]) => ({
    name,
    type: typeOf(schema),
    description,
  }))
  const problems = Object.entries(problemTypes)
    .toSorted(([, one], [, other]) => one.status - other.status)
    .map(([type, { status, title, help }]) =>
      row(`${status} <a href="/problems/${type}">${title}</a>`, inline(help)),
    )
  return `<h2 id="requests">Requests</h2>
<p>Headers of a request:</p>
${table(sent)}<h2 id="answers">Answers</h2>
<p>Every answer is an object of <code>data</code> and <code>meta</code>. Fields of <code>meta</code>, of which the example of an endpoint shows its own:</p>
${table(fieldsOf(schemas.Meta))}<p>Headers of an answer:</p>
${table(received)}<h2 id="errors">Errors</h2>
<p>Every error is a problem (RFC 7807, <code>application/problem+json</code>) with <code>type</code>, <code>title</code>, <code>status</code>, <code>detail</code>, <code>instance</code> and
<code>requestId</code>; a 400 about parameters has <code>errors</code>. Each links to what to do about it.</p>
${tableOf('Error', problems)}`
}

const table = (fields: Field[]): string =>
  tableOf(
    'Name',
    fields.map(({ name, type, description }) =>
      row(`<code>${name}</code>`, `<small>${type}</small> ${inline(description)}`),
    ),
  )

const tableOf = (first: string, rows: string[]): string =>
  `<div tabindex="0"><table>\n<tr><th>${first}</th><th>Meaning</th></tr>\n${rows.join('')}</table></div>\n`

const row = (first: string, second: string): string => `<tr><td>${first}</td><td>${second}</td></tr>\n`
