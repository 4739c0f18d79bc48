type Figures = { quantity: number; revenue: number }

/**
 * Whether more of an item came back than was sold, or money was given back (docs/guides/numbers.md, Below zero): tills
 * write a returned cup as a negative quantity or as a negative price.
 */
export const isReturned = ({ quantity, revenue }: Figures): boolean => quantity < 0 || revenue < 0

/** Parts the sold, in their order, from the returned, those of the most money first. */
export function partReturned<Item extends Figures>(items: Item[]): { sold: Item[]; returned: Item[] } {
  return {
    sold: items.filter(item => !isReturned(item)),
    returned: items
      .filter(isReturned)
      .sort((one, other) => one.revenue - other.revenue || one.quantity - other.quantity),
  }
}
