/**
 * Replicas that lead one after another on a server with an audit log, with Deployments to reconcile. The log shows what replicas do, by the server's
 * clock, which is the machine's: the test's own times are of the same clock.
 */
import * as Effect from "effect/Effect"
import { full } from "../../support/runs.ts"
import type { Upstream } from "../../support/gateway.ts"
import * as Process from "../../support/process.ts"
import * as Cluster from "../cluster.ts"
import * as Kubeconfigs from "../kubeconfigs.ts"
import * as Audit from "./audit.ts"
import * as Servers from "./servers.ts"

/** Milliseconds: the program's defaults at full length; otherwise as short as a busy machine allows. */
export interface Times {
  readonly lease: number
  readonly renew: number
  readonly retry: number
}

export const times: Times = full
  ? { lease: 15_000, renew: 10_000, retry: 2000 }
  : { lease: 4000, renew: 3000, retry: 400 }

/** Milliseconds that a busy machine may add to any time. Not part of what is documented. */
export const allowance = full ? 3000 : 5000

/** The maximum time until another replica leads, from the last renewal. Source: docs/operations.md, "Leader election". */
export const bound = ({ lease, retry }: Times): number => lease + 2.2 * retry

export const lease: Audit.Target = { namespace: "kube-system", name: "kube-controller-manager" }

export interface Replica extends Process.Running {
  readonly number: number
  /** Its user on the server. */
  readonly user: string
}

export interface Options extends Process.Start {
  readonly env?: Readonly<Record<string, string>>
  readonly more?: ReadonlyArray<string>
  /** Its address of the server, if it differs. */
  readonly server?: string
}

export type Harness = Effect.Success<ReturnType<typeof make>>

export const make = Effect.fnUntraced(function* (server: Servers.Server, chosen: Times = times) {
  const client = yield* Cluster.client(server)
  yield* Servers.prepare(client)
  const all: Array<Replica> = []
  let started = 0
  const start = Effect.fnUntraced(function* ({
    env,
    more = [],
    server: address = server.server,
    ...how
  }: Options = {}) {
    const number = started++
    const { token, user } = yield* Servers.account(client, `replica-${number}`)
    const kubeconfig = yield* Kubeconfigs.write({
      server: address,
      ca: server.ca,
      tlsServerName: "localhost",
      user: { token }
    })
    const args = ["--kubeconfig", kubeconfig, "--controllers=deployment,replicaset", ...flags(chosen), ...more]
    const replica: Replica = { ...(yield* Process.start(args, env, how)), number, user }
    all.push(replica)
    yield* replica.says(/waiting for lease/)
    return replica
  })
  return { client, all, start, times: chosen, writes: server.writes, server: server satisfies Upstream }
})

const flags = ({ lease, renew, retry }: Times) => [
  "--leader-elect",
  `--leader-elect-lease-duration=${lease}ms`,
  `--leader-elect-renew-deadline=${renew}ms`,
  `--leader-elect-retry-period=${retry}ms`
]

/** Repeats the check until it holds. */
export const until = Effect.fnUntraced(function* <A, E>(look: Effect.Effect<A | undefined, E>) {
  while (true) {
    const found = yield* look
    if (found !== undefined) return found
    yield* Effect.sleep(50)
  }
})

/** The last term, once there is one that began after the time. */
export const latest = ({ all, writes }: Harness, moment: number) =>
  until(
    Effect.sync(() => {
      const one = Audit.terms(writes(), lease).findLast(({ takeover }) => takeover.completed > moment)
      const leader = all.find(({ user }) => user === one?.user)
      return one === undefined || leader === undefined ? undefined : { ...one, leader }
    })
  )

/** Waits until a replica has written in a term. */
export const worked = ({ writes }: Harness, { takeover, user }: Audit.Term) =>
  until(Effect.sync(() => Audit.workOf(writes(), lease, { user, moment: takeover.completed })[0]))

export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** Prints figures for docs/operations.md in full runs. */
export const report = (what: string, values: ReadonlyArray<number>): void => {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const text = `${values.length} times, min ${least}, median ${median(values)}, max ${most} ms`
  if (full) process.stderr.write(`${what}: ${text}\n`)
}
