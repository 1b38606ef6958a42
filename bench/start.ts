/**
 * The cost of the program before it does anything: `--version` compared with a Node that does nothing, alternately, as whole processes; the CPU time to the
 * first controller; and the memory of the idle program on the embedded cluster, read from the operating system after it has counted its pods.
 */
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Figure } from "./figure.ts"
import * as FirstController from "./loops/firstController.ts"

const program = "dist/main.js"
const rounds = 15

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

/** Milliseconds from start to exit. */
const time = (args: ReadonlyArray<string>): number => {
  const start = performance.now()
  const { status } = spawnSync(process.execPath, args)
  if (status !== 0) throw new Error(`node ${args.join(" ")} exited with ${status}`)
  return performance.now() - start
}

const versionCost = (): Figure => {
  const ours: Array<number> = []
  const floor: Array<number> = []
  time([program, "--version"])
  time(["-e", "0"])
  for (let i = 0; i < rounds; i++) {
    ours.push(time([program, "--version"]))
    floor.push(time(["-e", "0"]))
  }
  const ratio = median(ours.map((value, i) => value / floor[i]!))
  const old = Number(process.versions.node.split(".")[0]) < 22
  return {
    name: "node dist/main.js --version",
    value: median(ours),
    unit: "ms",
    floor: median(floor),
    ratio,
    bar: old ? "≤ 2.2 × node -e 0" : "≤ 200 ms",
    ok: old ? ratio <= 2.2 : median(ours) <= 200
  }
}

const residentMemoryOf = (pid: number): number => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024
}

/** Started, its nodes ready and its first counts done: three readings, 30 s after the first controller started. */
const idleMemory = async (): Promise<Figure> => {
  const home = mkdtempSync(join(tmpdir(), "bench-"))
  const child = spawn(process.execPath, [program, "--cluster=embedded"], {
    env: { PATH: process.env["PATH"], HOME: home }
  })
  try {
    await new Promise<void>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`the program exited with ${code}`)))
      child.stderr.on("data", (data: Buffer) => data.includes("Starting Controller") && resolve())
    })
    const readings: Array<number> = []
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setTimeout(resolve, 10_000))
      readings.push(residentMemoryOf(child.pid!))
    }
    const value = Math.max(...readings)
    return { name: "idle on the embedded cluster", value, unit: "MiB RSS", bar: "≤ 110 MiB", ok: value <= 110 }
  } finally {
    const gone = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGTERM")
    await gone
    rmSync(home, { recursive: true, force: true })
  }
}

export const run = async (): Promise<Array<Figure>> => {
  if (!existsSync(program)) throw new Error(`${program} is not there: npm run build first`)
  return [versionCost(), ...(await FirstController.run()), await idleMemory()]
}
