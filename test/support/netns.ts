/**
 * A network namespace for a process, with one virtual cable to the machine that can be unplugged and plugged in again. Needs root and a kernel that
 * allows it; elsewhere it returns the reason.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawnSync } from "node:child_process"

export interface Cabled {
  readonly name: string
  /** The address of the machine at its end of the cable. */
  readonly host: string
  /** The address at the other end. */
  readonly inside: string
  /** A command that runs another one in the namespace. */
  readonly through: ReadonlyArray<string>
  readonly pull: Effect.Effect<void>
  readonly mend: Effect.Effect<void>
  /** Drops everything that leaves the namespace, including acknowledgements. */
  readonly mute: Effect.Effect<void>
}

const ip = (...args: ReadonlyArray<string>): string | undefined => {
  const { error, status, stderr } = spawnSync("ip", args, { encoding: "utf8" })
  if (error !== undefined) return error.message
  return status === 0 ? undefined : stderr.trim()
}

const must = (...args: ReadonlyArray<string>): void => {
  const problem = ip(...args)
  if (problem !== undefined) throw new Error(`ip ${args.join(" ")}: ${problem}`)
}

/** A network is removed after its namespace, so the next one has another name and other addresses. */
let made = 0

const nameOf = (number: number): string => `ecm-${process.pid}-${number}`

/** The reason why there can be none here; undefined when there can. */
export const missing = (): string | undefined => {
  const name = nameOf(made++)
  const problem = ip("netns", "add", name)
  if (problem !== undefined) return `no network namespace: ${problem}`
  const cable = ip("link", "add", name, "type", "veth", "peer", "name", `${name}p`, "netns", name)
  ip("netns", "del", name)
  return cable === undefined ? undefined : `no virtual cable: ${cable}`
}

/** A number of its own, and with it a name and addresses of its own: several may be open at once. */
export const make: Effect.Effect<Cabled, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const name = nameOf(made)
    const first = 4 * (made++ % 60)
    const [host, inside] = [1, 2].map((end) => `10.213.${process.pid % 250}.${first + end}`)
    must("netns", "add", name)
    must("link", "add", name, "type", "veth", "peer", "name", `${name}p`, "netns", name)
    must("addr", "add", `${host}/30`, "dev", name)
    must("link", "set", name, "up")
    must("-n", name, "addr", "add", `${inside}/30`, "dev", `${name}p`)
    for (const device of ["lo", `${name}p`]) must("-n", name, "link", "set", device, "up")
    return {
      name,
      host: host ?? "",
      inside: inside ?? "",
      through: ["ip", "netns", "exec", name],
      pull: Effect.sync(() => must("link", "set", name, "down")),
      mend: Effect.sync(() => must("link", "set", name, "up")),
      mute: Effect.sync(() => must("-n", name, "route", "add", "blackhole", `${host}/32`))
    }
  }),
  ({ name }) => Effect.sync(() => must("netns", "del", name))
)
