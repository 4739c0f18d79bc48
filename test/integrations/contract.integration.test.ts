import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RecordType, recordJsonSchema, recordTypes } from '@tally/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { pythonPrograms } from '#infra/install/pythonPackages.ts'
import { log } from './programs.ts'

const openApi = join(import.meta.dirname, '../../packages/contract/openapi.json')
const folder = mkdtempSync(join(tmpdir(), 'tally-contract-'))
let program: (name: string) => string

beforeAll(async () => {
  program = await pythonPrograms(['jsonschema==4.26.0', 'openapi-python-client==0.29.1'], log)
})
afterAll(() => rmSync(folder, { recursive: true }))

async function python(code: string, ...args: string[]): Promise<unknown> {
  const file = join(folder, 'program.py')
  writeFileSync(file, code)
  return JSON.parse((await run(program('python'), [file, ...args], { cwd: folder })).stdout)
}

test("Python's jsonschema with default options takes every price from -999.99 to 999.99 and the examples", async () => {
  const types = Object.keys(recordTypes) as RecordType[]
  const schemas = Object.fromEntries(types.map(type => [type, recordJsonSchema(type)]))
  const examples = Object.fromEntries(types.map(type => [type, recordTypes[type].example]))
  const file = join(folder, 'schemas.json')
  writeFileSync(file, JSON.stringify({ schemas, examples }))
  const code = `
import json, sys
from jsonschema import Draft202012Validator
given = json.load(open(sys.argv[1]))
validators = {}
for name, schema in given["schemas"].items():
    Draft202012Validator.check_schema(schema)
    validators[name] = Draft202012Validator(schema)
price = Draft202012Validator(given["schemas"]["orders"]["properties"]["totalAmount"])
amounts = [f"{sign}{c // 100}.{c % 100:02d}" for c in range(100000) for sign in ("", "-")]
refused = [amount for amount in amounts if not price.is_valid(json.loads(amount))]
wrong = [name for name, value in given["examples"].items() if not validators[name].is_valid(value)]
refunded = Draft202012Validator(given["schemas"]["refunds"]["properties"]["amount"])
negative = refunded.is_valid(-0.01)
print(json.dumps({"refused": len(refused), "wrong": wrong, "negative": negative}))
`
  expect(await python(code, file)).toEqual({ refused: 0, wrong: [], negative: false })
})

test('openapi-python-client makes a client that reads an answer and a problem', async () => {
  const output = join(folder, 'client')
  const args = ['generate', '--path', openApi, '--output-path', output, '--meta', 'none']
  const env = { PATH: `${join(program('python'), '..')}:${process.env.PATH}` }
  const generated = await run(program('openapi-python-client'), args, { cwd: folder, env, errorLines: 60 })
  expect(generated.output).not.toMatch(/warning|error|skipping/i)
  const code = `
import json, sys
import httpx
from client import Client
from client.api.analytics import get_item_counts, get_kpis
from client.api.orders import list_orders
document = json.load(open(sys.argv[1]))
example = lambda path: document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["example"]
limited = document["components"]["responses"]["TooManyRequests"]["content"]["application/problem+json"]["examples"]
def answer(request):
    path = request.url.path.replace("7c1e0000-0000-4000-8000-000000000001", "{eventId}")
    if path.endswith("kpis"):
        return httpx.Response(429, json=limited["rate-limit-exceeded"]["value"])
    return httpx.Response(200, json=example(path), headers={"ETag": request.headers.get("If-None-Match", "none")})
client = Client(base_url="http://tally", httpx_args={"transport": httpx.MockTransport(answer)})
event = __import__("uuid").UUID("7c1e0000-0000-4000-8000-000000000001")
counts = get_item_counts.sync_detailed(event, client=client, if_none_match='W/"x"')
orders = list_orders.sync(event, client=client)
problem = get_kpis.sync(event, client=client)
print(json.dumps({
    "etag": counts.headers["ETag"], "sold": [item.quantity_sold for item in counts.parsed.data],
    "day": counts.parsed.meta.day_id, "asOf": counts.parsed.meta.as_of.isoformat(),
    "pages": orders.meta.pagination.total_pages, "status": orders.data[0].status.value,
    "problem": problem.type_, "code": problem.status,
}))
`
  expect(await python(code, openApi)).toEqual({
    etag: 'W/"x"',
    sold: [203, 286],
    day: 42,
    asOf: '2026-09-05T19:31:07.100000+00:00',
    pages: 1,
    status: 'Paid',
    problem: '/problems/rate-limit-exceeded',
    code: 429,
  })
})
