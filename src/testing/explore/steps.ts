/** The cluster as a scenario sees it: each change is a step, which is recorded and numbered. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Patch from "../../kube/Patch.ts"
import * as Resource from "../../kube/Resource.ts"
import { KubeClient, type Target } from "../../layers/KubeClient.ts"
import * as Nodes from "../../simulation/Nodes.ts"
import { ClusterTest } from "../ClusterTest.ts"
import type { Cluster } from "./Exploration.ts"
import type * as Injection from "./Injection.ts"

const hour = 3_600_000

/** Settings of a scenario's cluster. */
interface Options {
  readonly injection: Injection.Injection
  /** Moves the wall clock by so many milliseconds. */
  readonly jump: (by: number) => void
  /** The last step. */
  readonly until: number
  /** Run in place of the step after the last one. */
  readonly end: Effect.Effect<never>
}

export const make = Effect.fnUntraced(function* ({ end, injection, jump, until }: Options) {
  const { advance, apply, snapshot } = yield* ClusterTest
  const client = yield* KubeClient
  const nodes = Option.getOrUndefined(yield* Effect.serviceOption(Nodes.Nodes))
  let count = 0
  const step: Cluster["step"] = (text, change) =>
    Effect.suspend(() => {
      const n = ++count
      if (n > until) return end
      const perturbed = injection.at("step", n)
      if (perturbed.includes("jump-ahead")) jump(hour)
      if (perturbed.includes("jump-back")) jump(-hour)
      injection.entries.push({
        type: "step",
        at: injection.now(),
        n,
        text,
        ...(perturbed.length === 0 ? {} : { perturbed })
      })
      return change
    })
  return {
    step,
    apply: (objects) => step(`apply ${describe(objects)}`, apply(objects)),
    edit: (resource, target, change) =>
      step(
        `edit ${named(resource, target)}: ${JSON.stringify(change)}`,
        client.patch(resource, target, Patch.merge(change))
      ),
    delete: (resource, target, options) =>
      step(`delete ${named(resource, target)}`, Effect.asVoid(client.delete(resource, target, options))),
    advance,
    snapshot,
    client,
    nodes
  } satisfies Cluster
})

const named = (resource: Resource.Any, { name, namespace }: Target): string =>
  `${Resource.qualifiedName(resource)} ${Key.make(namespace, name)}`

/** The most characters of YAML in the text of a step. */
const longest = 200

const describe = (objects: string | ReadonlyArray<object>): string => {
  if (typeof objects !== "string") {
    return (objects as ReadonlyArray<KubeObject>).map((one) => `${one.kind} ${Key.of(one)}`).join(", ")
  }
  const line = objects.replaceAll(/\s+/g, " ").trim()
  return line.length <= longest ? line : `${line.slice(0, longest)}…`
}
