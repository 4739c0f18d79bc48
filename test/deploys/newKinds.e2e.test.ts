import { oracle } from '@tally/testkit/oracle/oracle'
import { expectAllAnswers } from '@tally/testkit/oracle/questions'
import { tally as command } from '@tally/testkit/processes/command'
import { runTally, startProcess } from '@tally/testkit/processes/process'
import { type TestRecord, useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { headerOf, readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { expect, onTestFinished, test } from 'vitest'
import { previousTally } from './previousVersion.ts'

const tally = useTally({ projectors: 0, queries: 0, migrated: false })
const sagra = newFestival()

const cup = { menuItemId: 21, itemName: 'Cup deposit', quantity: -1, unitPrice: 2, note: null }
const signed = [
  sagra.order({ orderId: 'returned', items: [cup], totalAmount: -2, amountPaid: -2 }),
  sagra.order({ orderId: 'discounted', items: [{ ...cup, quantity: 1, unitPrice: -2 }], totalAmount: 3 }),
]
const fee = sagra.refund({ orderId: 'paid', refundId: 'less-a-fee', amount: 10 })
const failed = sagra.refund({ orderId: 'paid', refundId: 'failed', amount: 2, lines: [] })
const takenBack: TestRecord = { ...failed, value: { ...failed.value, version: 2, amount: 0 } }
const paid = sagra.order({ orderId: 'paid' })
const contradicting: TestRecord = { ...paid, value: { ...paid.value, totalAmount: 99 } }
const others = [sagra.organization(), sagra.event(), paid, failed]

const reasons = async () =>
  (await readDeadLetters(tally)).map(letter => headerOf(letter, 'tally.reason')).toSorted()
const run = async (...args: string[]) =>
  expect(await command(args, tally.settings)).toMatchObject({ code: 0 })

test('what the previous version rejected or ignored counts after the upgrade, by the commands of its notes', async ({
  skip,
}) => {
  const previous = await previousTally()
  if (previous === undefined) return skip('the previous version is not in the history of this clone')
  expect(await runTally(['migrate'], tally.settings, '', previous)).toMatchObject({ code: 0 })
  const old = startProcess(['projector'], tally.settings, previous)
  onTestFinished(() => void old.end())
  await tally.count([...others, ...signed, fee, takenBack, contradicting])
  expect(await reasons()).toEqual(['schema', 'schema', 'schema'])
  await run('migrate')
  expect(await old.end('SIGTERM')).toBe(0)

  await tally.startProjector()
  tally.queries.push(await tally.startQuery())
  const token = await tally.key(sagra.organizationId)
  const expectAnswers = (records: TestRecord[]) =>
    expectAllAnswers(tally, sagra.eventId, oracle(records), token)
  await run('dead-letters', 'replay', '--reason', 'schema')
  await tally.settle()
  await expectAnswers([...others, ...signed, fee])
  await run('verify')

  await run('rebuild', '--from-kafka')
  await tally.settle()
  await expectAnswers([...others, ...signed, fee, takenBack])
  expect(await reasons()).toEqual(['schema', 'schema', 'schema'])
  const { code, stdout } = await command(['records', 'check', '--from-kafka'], tally.settings)
  expect(code).toBe(1)
  expect(stdout).toMatch(/contradiction +version/)
  expect(stdout.match(/contradiction/g)).toHaveLength(1)
})
