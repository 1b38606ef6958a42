/** Which processes of the controllers there are. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Access from "../../../src/kube/Access.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Namespace } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { parseCase } from "../../../src/testing/explore/perturbation.ts"
import { run } from "../../../src/testing/explore/run.ts"

const label = Patch.merge({ metadata: { labels: { seen: "true" } } })

const labeller = Controller.make({
  name: "labeller",
  for: Namespace,
  concurrency: 2,
  access: [Access.patch(Namespace)],
  reconcileObject: ({ metadata: { labels, name } }, { client }) =>
    labels?.["seen"] === "true" ? Effect.void : Effect.asVoid(client.patch(Namespace, { name }, label))
})

const exploration = explore("labeller", { controllers: [labeller], scenario: () => Effect.void })

it.live("a process that has lost leadership does not end a second time, and has one successor", () =>
  Effect.gen(function* () {
    const { entries } = yield* run(exploration, parseCase("handoff@write#1+crash@write#2"), { seed: 1 })
    const perturbed = entries.flatMap((entry) => (entry.type === "call" ? (entry.perturbed ?? []) : []))
    assert.deepStrictEqual(perturbed, ["handoff", "crash"])
    const starts = entries.flatMap((entry) => (entry.type === "start" ? [entry.why] : []))
    assert.deepStrictEqual(starts, ["start", "took over"])
  })
)
