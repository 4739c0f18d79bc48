/** A switch that is not possible yet: it is rolled back and tried again. */
export class NotYetError extends Error {
  override readonly name = 'NotYetError'
}
