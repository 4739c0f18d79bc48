import { readSettings, type Settings, SettingsError, sslModeWarning } from '@tally/platform'
import { type DoctorFinding, fail, ok, warn } from './check.ts'

type Environment = Record<string, string | undefined>

/** The parts that cannot be checked, because a setting of theirs is invalid. */
export type WrongParts = { kafka: boolean; topics: boolean; postgres: boolean; redis: boolean }

/** The valid settings of an environment (the invalid ones have their defaults), and what is said about the others. */
export function examineSettings(environment: Environment): {
  finding: DoctorFinding
  settings: Settings
  wrong: WrongParts
} {
  const { settings, errors } = validSettings(environment)
  const names = errors.flatMap(error => error.settings)
  const [first] = errors
  const concerns = (part: RegExp): boolean => names.some(name => part.test(name))
  return {
    settings,
    wrong: {
      kafka: concerns(/^(KAFKA|TOPIC)_/),
      topics: concerns(/^TOPIC_/),
      postgres: concerns(/^DATABASE_/),
      redis: concerns(/^REDIS_/),
    },
    finding:
      first === undefined
        ? validFinding(settings)
        : fail(first.message, 'correct it: no process starts like this'),
  }
}

function validFinding({ databaseUrl }: Settings): DoctorFinding {
  const warning = sslModeWarning(databaseUrl)
  return warning === undefined ? ok('valid') : warn(warning.found, warning.mend)
}

/** Leaves out invalid settings until the others are valid; errors after the first may only follow from that. */
function validSettings(environment: Environment): { settings: Settings; errors: SettingsError[] } {
  const errors: SettingsError[] = []
  for (let left = environment; ; ) {
    try {
      return { settings: readSettings(left), errors }
    } catch (error) {
      if (!(error instanceof SettingsError) || !error.settings.some(name => left[name])) throw error
      errors.push(error)
      const wrong = new Set(error.settings)
      left = Object.fromEntries(Object.entries(left).filter(([name]) => !wrong.has(name)))
    }
  }
}
