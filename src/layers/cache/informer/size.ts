/**
 * How big objects are, by their length as JSON, which is what they were sent as: an order of magnitude for whoever looks for what
 * fills the memory. Of many only some are measured, evenly spread, so that asking costs little. Pure.
 */

/** Objects that are measured. */
export const sample = 128

export const estimate = (objects: ReadonlyArray<unknown>): number => {
  if (objects.length === 0) return 0
  const step = Math.max(1, objects.length / sample)
  let [measured, sum] = [0, 0]
  for (let at = 0; at < objects.length; at += step) {
    sum += JSON.stringify(objects[Math.floor(at)])?.length ?? 0
    measured++
  }
  return Math.round((sum / measured) * objects.length)
}
