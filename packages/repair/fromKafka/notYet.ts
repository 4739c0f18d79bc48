/** A switch that cannot be made at this moment: it is rolled back and tried again. */
export class NotYetError extends Error {
  override readonly name = 'NotYetError'
}
