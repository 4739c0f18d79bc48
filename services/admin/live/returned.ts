type Figures = { quantity: number; revenue: number }

/**
 * Parts what was sold from what was returned: more came back than was sold, or money was given back
 * (docs/guides/numbers.md, Below zero). Tills write a returned cup as a negative quantity or as a negative price, so
 * both count. The sold keep their order; of the returned, the most money comes first.
 */
export function partReturned<Item extends Figures>(items: Item[]): { sold: Item[]; returned: Item[] } {
  const isReturned = ({ quantity, revenue }: Figures) => quantity < 0 || revenue < 0
  return {
    sold: items.filter(item => !isReturned(item)),
    returned: items
      .filter(isReturned)
      .sort((one, other) => one.revenue - other.revenue || one.quantity - other.quantity),
  }
}
