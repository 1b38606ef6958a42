#!/usr/bin/env node
/**
 * The program's entry. It answers `--version` by itself, because that should cost no more than starting Node; everything else
 * is in `program.ts`, which is loaded only when it is needed.
 */
import process from "node:process"
import { version } from "./version.ts"

if (process.argv.length === 3 && process.argv[2] === "--version") {
  process.stdout.write(`${version}\n`)
} else {
  const { main } = await import("./program.ts")
  main(process)
}
