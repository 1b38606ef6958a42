/** The same seed and faults give the same bytes, in any process. */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { rolldown } from "rolldown"

const here = fileURLToPath(new URL(".", import.meta.url))
const program = join(here, "../../../node_modules/.determinism/run.mjs")

/** Bundles the script, because Node does not run TypeScript here. */
const build = async () => {
  const bundle = await rolldown({ input: join(here, "determinismRun.ts"), platform: "node", logLevel: "silent" })
  await bundle.write({ file: program, format: "esm", codeSplitting: false })
  await bundle.close()
}

/** Runs a separate process, which depends on its arguments only. */
const run = async (seed: string, flags: ReadonlyArray<string>, zone: string): Promise<string> => {
  const options = { env: { TZ: zone }, maxBuffer: 1 << 28 }
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, seed], options)
  return stdout
}

describe("two processes", () => {
  it("write the same log for the same seed, and different logs for different seeds", { timeout: 120_000 }, async () => {
    await build()
    const [one, two, other] = await Promise.all([
      run("seed", ["--hash-seed=1"], "UTC"),
      run("seed", ["--hash-seed=77"], "Asia/Tokyo"),
      run("else", [], "UTC")
    ])
    assert.isTrue(one === two, "the logs differ")
    assert.isTrue(one !== other, "the seed has no influence")
    const lines = one.split("\n")
    assert.strictEqual(lines.filter((line) => /^\d+ /.test(line)).length, 2000)
    // The run is not all errors: there are events and faults.
    assert.isAbove(lines.filter((line) => line.includes('"type":"MODIFIED"')).length, 100)
    assert.isAbove(lines.filter((line) => line.includes("ECONNRESET")).length, 10)
  })
})
