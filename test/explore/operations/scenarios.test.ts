/** Generated scenarios under perturbations: a failure names the shortest scenario that shows it, and can be repeated. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Deployment from "../../../src/controllers/Deployment.ts"
import * as EcsBinding from "../../../src/controllers/EcsBinding.ts"
import * as Memcached from "../../../src/controllers/Memcached.ts"
import * as ReplicaSet from "../../../src/controllers/ReplicaSet.ts"
import { Namespace } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { kinds, parseCase } from "../../../src/testing/explore/perturbation.ts"
import { text } from "../../../src/testing/explore/report/text.ts"
import { bug } from "../bugs/generatedNameLeaked.ts"

/** The controllers of an exploration, without its scenario. */
const generated = (isRepaired: boolean, kept: ReadonlyArray<string>) => {
  const { name, options } = bug.explore(isRepaired)
  const left = Object.keys(kinds).filter((kind) => !kept.includes(kind))
  return explore(name, {
    controllers: options.controllers,
    without: Object.fromEntries(left.map((kind) => [kind, "keeps the test short"]))
  })
}

describe("explore without a scenario", () => {
  it.live("shrinks the scenario of a failure, which can be repeated by the scenario and the perturbations", () =>
    Effect.gen(function* () {
      const exploration = generated(false, ["lost"])
      const report = yield* exploration.run()
      assert.isUndefined(report.problem)
      const failure = report.failures.find(({ where }) => where.some((one) => one.includes("create configmaps")))
      assert.strictEqual(failure?.scenario, "lifecycle[1]")
      assert.include(text(report), `explore --replay 'generated-name-leaked/lifecycle[1]:${failure?.id}'`)
      const again = yield* exploration.run({ scenario: failure?.scenario, replay: parseCase(failure?.id ?? "") })
      assert.deepEqual(
        again.failures.map(({ cause, id, scenario }) => ({ cause, id, scenario })),
        [{ cause: failure?.cause, id: failure?.id, scenario: failure?.scenario }]
      )
    })
  )
  it.live("finds nothing in a repaired controller", () => generated(true, ["lost"]).check())

  it.live("cannot be done for kinds without Schemas", () =>
    Effect.gen(function* () {
      const controller = Controller.make({ name: "idle", for: Namespace, access: [], reconcile: () => Effect.void })
      const { problem, runs } = yield* explore("idle", { controllers: [controller] }).run()
      assert.strictEqual(
        problem,
        "namespaces are not declared with Schemas, so no operations follow: give the exploration a scenario"
      )
      assert.strictEqual(runs, 0)
    })
  )
  it.live("reports which scenarios there are if the name is unknown, or if a run to repeat names none", () =>
    Effect.gen(function* () {
      const exploration = explore("memcached", { controllers: [Memcached.make()] })
      const all = "lifecycle, spec.size, spec.containerPort, owned.deployments"
      const unknown = yield* exploration.run({ scenario: "spec.color" })
      assert.strictEqual(unknown.problem, `there is no scenario spec.color: there are ${all}`)
      const ambiguous = yield* exploration.run({ replay: { perturbations: [] } })
      assert.strictEqual(ambiguous.problem, `a run to repeat needs one of the scenarios ${all}`)
    })
  )
  it.live("takes generated names of pods in a status for what they refer to", () =>
    Effect.gen(function* () {
      const exploration = explore("memcached", {
        controllers: [Memcached.make()],
        environment: [Deployment.make(), ReplicaSet.make()],
        cluster: { nodes: 2 }
      })
      const { failures, problem } = yield* exploration.run({
        scenario: "spec.size[1,2]",
        replay: { perturbations: [] }
      })
      assert.deepEqual([problem, failures], [undefined, []])
    })
  )
  it.live("finds nothing in EcsBinding after crashes and conflicts", () => {
    const kept = ["crash", "conflict"]
    const without = Object.fromEntries(
      Object.keys(kinds)
        .filter((kind) => !kept.includes(kind))
        .map((kind) => [kind, "keeps the test short"])
    )
    return explore("ecsbinding", { controllers: [EcsBinding.make()], without }).check()
  })
})
