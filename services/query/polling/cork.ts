/**
 * Returns a function that keeps what it is given. All of it goes to `handle`, in the order given, once every promise
 * that can go on now has done so.
 */
export function cork<Item>(handle: (items: Item[]) => void): (item: Item) => void {
  let gathered: Item[] = []
  const handleAll = () => {
    const items = gathered
    gathered = []
    handle(items)
  }
  return item => {
    if (gathered.length === 0) process.nextTick(handleAll)
    gathered.push(item)
  }
}
