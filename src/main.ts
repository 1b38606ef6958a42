#!/usr/bin/env node
/**
 * The program's entry. It answers `--version` by itself, because that should cost no more than starting Node; everything else
 * is in `product.ts`, which is loaded only when it is needed. In a thread that the program has started it is that thread.
 */
import process from "node:process"
import { isMainThread, parentPort, workerData } from "node:worker_threads"
import { version } from "./version.ts"

if (!isMainThread) {
  const { role } = await import("./manager/renewal/protocol.ts")
  const { serve } = await import("./manager/renewal/thread.ts")
  if (workerData === role && parentPort !== null) serve(parentPort)
} else if (process.argv.length === 3 && process.argv[2] === "--version") {
  process.stdout.write(`${version}\n`)
} else {
  const { main } = await import("./cli/product.ts")
  main(process, new URL(import.meta.url))
}
