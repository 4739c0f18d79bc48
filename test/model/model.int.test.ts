import { beforeAll, describe, expect, test } from 'vitest'
import { runs } from './runs.ts'
import { requireSpin, search } from './spin.ts'

// The longer searches and the table are `npm run test:model` (README.md).
const short = runs.filter(({ isShort }) => isShort)

/** Spin may have to be installed first (as root on Debian). */
beforeAll(() => requireSpin(), 600_000)

describe('the rules in force: no execution breaks a property', () => {
  test.each(short.filter(({ violates }) => violates === undefined))(
    '$name: $about',
    async run => {
      const { violated, trace, states } = await search(run)
      expect(violated, trace.join('\n')).toBeUndefined()
      expect(states).toBeGreaterThan(1_000)
    },
    600_000,
  )
})

describe('the model refutes', () => {
  test.each(short.filter(({ violates }) => violates !== undefined))(
    '$name: $about',
    async run => {
      expect((await search(run)).violated).toBe(run.violates)
    },
    600_000,
  )
})
