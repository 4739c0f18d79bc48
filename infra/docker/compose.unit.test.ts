import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const compose = readFileSync(join(import.meta.dirname, '../../docker-compose.yml'), 'utf8')

/** `${A:-http://…${B:-8080}}`: Compose 1.29 ends the default at the first brace, and the area does not start. */
const nested = /\$\{[^}]*\$\{/

test('no default in docker-compose.yml holds another one', () => {
  expect(compose.split('\n').filter(line => nested.test(line))).toEqual([])
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of Compose
  expect(nested.test("ADMIN_API_URL: '${ADMIN_API_URL:-http://localhost:${QUERY_PORT:-8080}}'")).toBe(true)
})
