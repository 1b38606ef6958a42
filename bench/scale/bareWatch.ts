/** The lower bound of a process that reads a large cluster: it reads the bytes of the same watches over HTTPS, cuts them into lines, and parses each. */
import * as BareEvents from "../bareEvents.ts"
import type { Address } from "./fedServer.ts"

/** The argument. */
export interface Options extends Pick<Address, "port" | "ca"> {
  readonly paths: ReadonlyArray<string>
}

const { paths, ...where } = JSON.parse(process.argv[2] ?? "{}") as Options
process.once("disconnect", () => process.exit(0))

/** What is parsed last: kept, so that nothing is optimized away. */
const kept: { last?: unknown } = {}

await Promise.all(paths.map((path) => BareEvents.read({ ...where, path }, (object) => void (kept.last = object))))
process.send?.("ready")
