/** What the objects of a large cluster cost a process that stores them: bytes of each, and processor time of each change. The server and each store are processes. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { bundled } from "../server.ts"
import type { Address, Changes, Counts, Kind } from "./fedServer.ts"
import type { Expect, Filled, Options, Received } from "./fedStore.ts"

export const kinds: ReadonlyArray<Kind> = ["nodes", "leases", "pods"]

/** How many changes are measured, and at which rate: about that of a cluster of 5,000 nodes. */
const [changes, perSecond] = [5000, 500]

export interface Stored {
  /** Bytes of an object as JSON. */
  readonly bytes: Readonly<Record<Kind, number>>
  /** MiB of a process without objects. */
  readonly emptyMiB: number
  readonly full: ReadonlyArray<Filled>
  readonly keysOnly: ReadonlyArray<Filled>
  /** Microseconds of the processor for each change, at the rate of a cluster. */
  readonly change: Readonly<Record<Kind, number>>
  /** The same when the server sends as fast as the process reads. */
  readonly burst: Readonly<Record<Kind, number>>
}

/** A process of the benchmark; an end that was not ordered ends the benchmark too. */
const run = async (name: string, argument: object, flags: ReadonlyArray<string> = []): Promise<ChildProcess> => {
  const child = fork(await bundled(name), [JSON.stringify(argument)], { execArgv: [...flags] })
  child.once("exit", (code) => {
    if (code !== 0) throw new Error(`${name} ended with code ${code}`)
  })
  return child
}

const message = async <A>(child: ChildProcess): Promise<A> => ((await once(child, "message")) as [A])[0]

/** A process that has stored everything. */
const fill = async ({ ca, port }: Address, keysOnly: boolean) => {
  const options: Options = { ca, port, kinds, keysOnly }
  const child = await run("scale/fedStore", options, ["--expose-gc"])
  const emptyMiB = await message<number>(child)
  const filled: Array<Filled> = []
  for (const _ of kinds) filled.push(await message<Filled>(child))
  return { child, emptyMiB, filled }
}

export const measure = async (counts: Counts): Promise<Stored> => {
  const server = await run("scale/fedServer", counts)
  const address = await message<Address>(server)
  const sparse = await fill(address, true)
  sparse.child.disconnect()
  const full = await fill(address, false)
  const costOf = async (kind: Kind, rate: number | undefined): Promise<number> => {
    full.child.send({ changes } satisfies Expect)
    server.send({ kind, count: changes, perSecond: rate } satisfies Changes)
    return ((await message<Received>(full.child)).cpu * 1000) / changes
  }
  const costs = async (rate: number | undefined): Promise<Record<Kind, number>> => ({
    nodes: await costOf("nodes", rate),
    leases: await costOf("leases", rate),
    pods: await costOf("pods", rate)
  })
  // The first of each compiles.
  await costs(undefined)
  const burst = await costs(undefined)
  const change = await costs(perSecond)
  full.child.disconnect()
  server.disconnect()
  const { emptyMiB, filled } = full
  return { bytes: address.bytes, emptyMiB, full: filled, keysOnly: sparse.filled, change, burst }
}
