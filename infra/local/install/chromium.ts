import { programPath } from './programs.ts'

/** The path of this machine's Chromium, for the tests in a real browser; see `programPath`. */
export const chromiumPath = (log?: (line: string) => void): Promise<string> =>
  programPath(
    {
      names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
      debianPackage: 'chromium',
      neededBy: 'the tests in a browser',
    },
    log,
  )
