/** Quotas with scopes: the cases of Kubernetes' test/e2e/apimachinery/resource_quota.go. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { PersistentVolumeClaim, Pod } from "../../../src/kube/resources.ts"
import { PriorityClass } from "./kinds.ts"
import * as Harness from "./harness.ts"

const same = assert.deepStrictEqual

const amounts = { cpu: "500m", memory: "200Mi" }
const limits = { cpu: "1", memory: "400Mi" }
const hard = {
  pods: "5",
  "requests.cpu": "1",
  "requests.memory": "500Mi",
  "limits.cpu": "2",
  "limits.memory": "1Gi"
}
const none = { pods: "0", "requests.cpu": "0", "requests.memory": "0", "limits.cpu": "0", "limits.memory": "0" }
const one = {
  pods: "1",
  "requests.cpu": "500m",
  "requests.memory": "200Mi",
  "limits.cpu": "1",
  "limits.memory": "400Mi"
}

const pods = (name: string) => Effect.map(Harness.used(name), (used) => used?.["pods"])

describe("a quota with scope Terminating or NotTerminating", () => {
  it.effect("counts matching pods only", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.quota("ending", hard, { scopes: ["Terminating"] })
        yield* Harness.quota("lasting", hard, { scopes: ["NotTerminating"] })
        const used = Effect.all([Harness.used("ending"), Harness.used("lasting")])
        yield* Harness.pod("a", amounts, {}, limits)
        same(yield* used, [none, one])
        yield* Harness.remove(Pod, "a")
        yield* Harness.pod("b", amounts, { activeDeadlineSeconds: 3600 }, limits)
        same(yield* used, [one, none])
        yield* Harness.remove(Pod, "b")
        same(yield* used, [none, none])
      })
    )
  )

  it.effect("follows a pod that gets activeDeadlineSeconds", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.quota("ending", { ...hard, pods: "1" }, Harness.scoped("Terminating"))
        yield* Harness.quota("lasting", { ...hard, pods: "1" }, Harness.scoped("NotTerminating"))
        const used = Effect.all([Harness.used("ending"), Harness.used("lasting")])
        yield* Harness.pod("a", amounts, {}, limits)
        same(yield* used, [none, one])
        yield* Harness.patch(Pod, "a", { spec: { activeDeadlineSeconds: 3600 } })
        same(yield* used, [one, none])
        const second = Harness.pod("b", amounts, { activeDeadlineSeconds: 3600 }, limits)
        assert.include(yield* Harness.refused(second), "exceeded quota: ending")
        yield* Harness.remove(Pod, "a")
        yield* second
        same(yield* used, [one, none])
      })
    )
  )
})

describe("a quota with scope BestEffort or NotBestEffort", () => {
  for (const form of ["scopes", "a selector"])
    it.effect(`counts pods with resource requests, or without (${form})`, () =>
      Harness.withLoop(
        Effect.gen(function* () {
          const scope = (name: string) => (form === "scopes" ? { scopes: [name] } : Harness.scoped(name))
          yield* Harness.quota("idle", { pods: "5" }, scope("BestEffort"))
          yield* Harness.quota("busy", { pods: "5" }, scope("NotBestEffort"))
          const used = Effect.all([pods("idle"), pods("busy")])
          yield* Harness.pod("a")
          same(yield* used, ["1", "0"])
          yield* Harness.remove(Pod, "a")
          yield* Harness.pod("b", amounts)
          same(yield* used, ["0", "1"])
          yield* Harness.remove(Pod, "b")
          same(yield* used, ["0", "0"])
        })
      )
    )
})

describe("a quota with scope PriorityClass", () => {
  it.effect("counts pods that its operator selects", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        for (const name of ["high", "low"]) yield* Harness.create(PriorityClass, name, { value: 1000 })
        const quotas = {
          in: ["In", ["high"]],
          notIn: ["NotIn", ["high"]],
          some: ["Exists"],
          none: ["DoesNotExist"]
        } as const
        for (const [name, [operator, values]] of Object.entries(quotas))
          yield* Harness.quota(name.toLowerCase(), { pods: "5" }, Harness.scoped("PriorityClass", operator, values))
        const used = Effect.all(Object.keys(quotas).map((name) => pods(name.toLowerCase())))
        yield* Harness.pod("a", {}, { priorityClassName: "high" })
        same(yield* used, ["1", "0", "1", "0"])
        yield* Harness.pod("b", {}, { priorityClassName: "low" })
        yield* Harness.pod("c")
        same(yield* used, ["1", "2", "2", "1"])
        for (const name of ["a", "b", "c"]) yield* Harness.remove(Pod, name)
        same(yield* used, ["0", "0", "0", "0"])
      })
    )
  )

  it.effect("rejects a second pod if one is allowed, and counts requests", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.create(PriorityClass, "high", { value: 1000 })
        yield* Harness.quota("q", { ...hard, pods: "1" }, Harness.scoped("PriorityClass", "In", ["high"]))
        const high = { priorityClassName: "high" }
        yield* Harness.pod("a", amounts, high, limits)
        same(yield* Harness.used(), one)
        assert.include(yield* Harness.refused(Harness.pod("b", amounts, high, limits)), "exceeded quota: q")
        yield* Harness.remove(Pod, "a")
        same(yield* Harness.used(), none)
      })
    )
  )
})

describe("a quota with scope CrossNamespacePodAffinity", () => {
  it.effect("counts pods whose affinity terms have namespaces or a namespaceSelector", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.quota("q", { pods: "5" }, Harness.scoped("CrossNamespacePodAffinity"))
        const affine = (name: string, more: object) =>
          Harness.pod(
            name,
            {},
            {
              affinity: {
                podAntiAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "region", ...more }]
                }
              }
            }
          )
        yield* affine("near", {})
        yield* affine("named", { namespaces: ["other"] })
        yield* affine("selected", { namespaceSelector: { matchLabels: { team: "ads" } } })
        same(yield* pods("q"), "2")
        for (const name of ["near", "named", "selected"]) yield* Harness.remove(Pod, name)
        same(yield* pods("q"), "0")
      })
    )
  )
})

describe("a quota with scope VolumeAttributesClass", () => {
  it.effect("counts a claim that changes its class under both classes", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const room = { persistentvolumeclaims: "1", "requests.storage": "5Gi" }
        for (const name of ["gold", "silver"])
          yield* Harness.quota(name, room, Harness.scoped("VolumeAttributesClass", "In", [name]))
        const used = Effect.map(Effect.all([Harness.used("gold"), Harness.used("silver")]), (all) =>
          all.map((used) => `${used?.["persistentvolumeclaims"]} ${used?.["requests.storage"]}`)
        )
        const gold = { storageClassName: "", volumeAttributesClassName: "gold" }
        yield* Harness.claim("a", gold)
        same(yield* used, ["1 1Gi", "0 0"])
        assert.include(yield* Harness.refused(Harness.claim("b", gold)), "exceeded quota: gold")
        const status = { phase: "Bound", currentVolumeAttributesClassName: "gold" }
        yield* Harness.patch(PersistentVolumeClaim, "a", { status }, "status")
        yield* Harness.patch(PersistentVolumeClaim, "a", { spec: { volumeAttributesClassName: "silver" } })
        same(yield* used, ["1 1Gi", "1 1Gi"])
        const moved = { currentVolumeAttributesClassName: "silver" }
        yield* Harness.patch(PersistentVolumeClaim, "a", { status: moved }, "status")
        same(yield* used, ["0 0", "1 1Gi"])
        yield* Harness.remove(PersistentVolumeClaim, "a")
        same(yield* used, ["0 0", "0 0"])
      })
    )
  )
})
