#!/usr/bin/env node
/**
 * The program's entry. It answers `--version` by itself, because that should cost no more than starting Node; everything else
 * is in `product.ts`, which is loaded only when it is needed. In a thread that the program has started it is that thread.
 */
import process from "node:process"
import { setFlagsFromString } from "node:v8"
import { isMainThread, parentPort, workerData } from "node:worker_threads"
import { version } from "./version.ts"

if (!isMainThread) {
  const { role } = await import("./manager/renewal/protocol.ts")
  const { serve } = await import("./manager/renewal/thread.ts")
  const Explore = await import("./cli/explore/thread.ts")
  if (workerData === role && parentPort !== null) serve(parentPort)
  else if (Explore.isOwn(workerData) && parentPort !== null) {
    Explore.serve(parentPort, workerData, (path) => import(path))
  }
} else if (process.argv.length === 3 && process.argv[2] === "--version") {
  process.stdout.write(`${version}\n`)
} else {
  // The only WebAssembly here is undici's parser of HTTP. Node 20 would spend 0.2 s of the processor and 35 MB on optimizing it just after the start,
  // and the end of the process waits for that; the result parses no faster.
  setFlagsFromString("--liftoff-only")
  // Garbage may double the heap before it is collected. By default V8 allows three times as much for a small heap, because it only weighs the time of the
  // collections: docs/design/manager.md has the figures. Set here, because V8 accepts compiled code only with the flags that it was compiled with.
  setFlagsFromString("--heap-growing-percent=100")
  // The young generation grows from 1 MiB to its full size in two steps in place of four: a start fills it many times over with what is needed, and each
  // collection copies that.
  setFlagsFromString("--semi-space-growth-factor=4")
  const { main } = await import("./cli/product.ts")
  main(process, new URL(import.meta.url))
}
