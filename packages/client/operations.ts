import type { operations } from './openapi.ts'

export type OperationName = keyof operations

/** A successful answer: `data` and `meta`. */
export type Answer<Name extends OperationName> =
  operations[Name]['responses'][200]['content']['application/json']

/** The parameters of an operation, of its path and query together. A list of ids is also taken as an array. */
export type Parameters<Name extends OperationName> = WithArrays<
  Fields<operations[Name]['parameters']['path']> & Fields<operations[Name]['parameters']['query']>
>
type Fields<Part> = [NonNullable<Part>] extends [never] ? unknown : NonNullable<Part>
type WithArrays<Part> = {
  [Key in keyof Part]: Key extends 'menuItemIds' ? Part[Key] | readonly number[] : Part[Key]
}
