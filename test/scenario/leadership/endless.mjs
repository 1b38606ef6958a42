/**
 * For `node --import`: a write of a pod of the set `endless-…` blocks the event loop for `BUSY` milliseconds, as a reconcile that computes for
 * that long would.
 */
import process from "node:process"

const stringify = JSON.stringify
JSON.stringify = (value, ...others) => {
  if (value?.metadata?.generateName?.startsWith("endless-")) {
    const end = performance.now() + Number(process.env.BUSY ?? "0")
    process.stderr.write("busy\n")
    while (performance.now() < end);
    process.stderr.write("free again\n")
  }
  return stringify(value, ...others)
}
