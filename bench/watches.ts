/** What a watch of one namespace costs a program, over HTTPS: the memory with 600 of them, less that with one. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import type { Figure } from "./figure.ts"
import type { Memory, Options } from "./namespaceWatches.ts"
import { bundled, serve } from "./server.ts"

const watches = 600

const figure = (name: string, bytes: number, bar: number): Figure => ({
  name: `watches: ${name} for each watch of a namespace`,
  value: bytes / 1024,
  unit: "KB",
  bar: `≤ ${bar}`,
  ok: bytes / 1024 <= bar
})

export const run = async (): Promise<Array<Figure>> => {
  const file = await bundled("namespaceWatches")
  const { ca, port, stop, token } = await serve()
  const measure = async (count: number): Promise<Memory> => {
    const namespaces = Array.from({ length: count }, (_, index) => `shop-${index}`)
    const options: Options = { ca, port, token, namespaces }
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", file, JSON.stringify(options)])
    return JSON.parse(stdout) as Memory
  }
  try {
    const [one, many] = [await measure(1), await measure(watches)]
    return [
      figure("resident memory", (many.resident - one.resident) / (watches - 1), 160),
      figure("heap", (many.heap - one.heap) / (watches - 1), 40)
    ]
  } finally {
    await stop()
  }
}
