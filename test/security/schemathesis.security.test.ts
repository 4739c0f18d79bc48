import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { pythonPrograms } from '#infra/install/pythonPackages.ts'
import { scanFolder } from './scanFolder.ts'

const tally = useTally()
const festival = newFestival()

test('requests made from the OpenAPI document, right and wrong ones, to every operation', async () => {
  const orders = Array.from({ length: 200 }, () => festival.order())
  await tally.count([festival.organization(), festival.event(), ...orders])
  const token = await tally.key(festival.organizationId)
  const limits = ['--max-examples', '30', '--workers', '1', '--seed', '1', '--max-time', '60']
  // A list of ids has bounds that its pattern in the document cannot express: they are a 400.
  const checks = ['--exclude-checks', 'positive_data_acceptance']
  const what = [`${tally.queries[0]?.address}/api/v1/openapi.json`, '--header', `X-Api-Key: ${token}`]
  const args = ['run', ...what, ...limits, ...checks, '--continue-on-failure', '--no-color']
  const program = await pythonPrograms(['schemathesis==4.32.5'], console.error)
  // It keeps a folder of its own where it is started. It fails if a check does.
  const { output } = await run(program('schemathesis'), args, { cwd: scanFolder(), errorLines: 200 })
  expect(output).toMatch(/\d+ generated/)
})
