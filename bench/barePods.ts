/** A process that creates pods with undici and nothing else, for `memory.ts`. It sends a message when they exist, and stays. */
import { type Access, plainly } from "./plain.ts"

/** The arguments: one JSON object. */
export interface Options extends Access {
  readonly path: string
  readonly count: number
  readonly spec: object
}

const { count, path, spec, ...where } = JSON.parse(process.argv[2] ?? "{}") as Options

await plainly(where, count, (index) => ({
  method: "POST",
  path,
  body: { metadata: { name: `p-${index}`, labels: { of: "floor" } }, spec }
}))
process.send?.("created")
process.on("message", () => {})
