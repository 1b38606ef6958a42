/**
 * vitest 5 prints a failed test with built-ins that Node 20 lacks; without them the report itself crashes and the
 * assertion is never shown. Loaded by vitest.config.ts, in the reporter's process only; nothing in `src` needs it.
 */
const M = Map as any
const O = Object as any
const P = Promise as any

M.groupBy ??= (items: Iterable<unknown>, keyOf: (value: unknown, index: number) => unknown) => {
  const groups = new Map<unknown, Array<unknown>>()
  let index = 0
  for (const item of items) {
    const key = keyOf(item, index++)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
O.groupBy ??= (items: Iterable<unknown>, keyOf: (value: unknown, index: number) => PropertyKey) =>
  Object.assign(Object.create(null), Object.fromEntries(M.groupBy(items, keyOf)))
P.withResolvers ??= () => {
  let resolve, reject
  const promise = new Promise((a, b) => {
    resolve = a
    reject = b
  })
  return { promise, resolve, reject }
}
