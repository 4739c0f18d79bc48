import { programPath } from './programs.ts'

/** The path of this machine's Chromium, for tests in a real browser, or of the one that is named (`programPath`). */
export const chromiumPath = async (log?: (line: string) => void): Promise<string> =>
  process.env.TALLY_TEST_CHROMIUM ??
  programPath(
    {
      names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
      debianPackage: 'chromium',
      neededBy: 'the tests in a browser',
    },
    log,
  )
