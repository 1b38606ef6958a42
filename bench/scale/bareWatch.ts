/** The lower bound of a process that reads a large cluster: it reads the bytes of the same watches over HTTPS, cuts them into lines, and parses each. */
import { get } from "node:https"
import type { Address } from "./fedServer.ts"

/** The argument. */
export interface Options extends Pick<Address, "port" | "ca"> {
  readonly paths: ReadonlyArray<string>
}

const { ca, paths, port } = JSON.parse(process.argv[2] ?? "{}") as Options
process.once("disconnect", () => process.exit(0))

/** What is parsed last: kept, so that nothing is optimized away. */
const kept: { last?: unknown } = {}

const watch = (path: string): Promise<void> =>
  new Promise((resolve) => {
    get({ host: "127.0.0.1", port, ca, path: `${path}?watch=true` }, (response) => {
      resolve()
      let rest = ""
      response.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n")
        rest = lines.pop() ?? ""
        for (const line of lines) kept.last = JSON.parse(line)
      })
    })
  })

await Promise.all(paths.map(watch))
process.send?.("ready")
