/** Waits until something holds; fails with its name after `withinMs`. Looks every 15 ms. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 40_000,
): Promise<void> {
  for (const end = performance.now() + withinMs; !(await holds()); ) {
    if (performance.now() > end) throw new Error(`not within ${withinMs / 1000} s: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 15))
  }
}
