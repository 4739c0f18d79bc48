/** How each part of the test cluster is started. Its data is in a folder of its own, deleted when it stops. */
export type PartOptions = {
  /** Where its logs go; by default to its data. */
  logFolder?: string | undefined
  /** Gets a line for each step that takes time. */
  log?: ((line: string) => void) | undefined
  /** Called if a server ends unexpectedly, with a sentence and the end of its log; by default it is printed. */
  onDeath?: ((message: string) => void) | undefined
}
