import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Replicas from "../../../../src/controllers/shared/workload/replicas.ts"
import type { Pod } from "../../../../src/kube/resources.ts"
import * as Time from "../../../../src/kube/time.ts"
import { checkProperty } from "../../../support/property.ts"
import { runs } from "../../../support/runs.ts"

const now = 100_000

const Facts = Schema.Struct({
  /** For how many seconds the pod has been ready; undefined if it is not ready. */
  readyFor: Schema.UndefinedOr(Schema.Literals([0, 5, 9, 10, 11, 50])),
  labelled: Schema.Boolean
})

type Facts = typeof Facts.Type

const podOf = ({ labelled, readyFor }: Facts, index: number): Pod => ({
  metadata: {
    name: `pod-${index}`,
    uid: `u${index}`,
    labels: labelled ? { app: "web", tier: "front" } : { app: "web" }
  },
  status: {
    phase: "Running",
    conditions: [
      readyFor === undefined
        ? { type: "Ready", status: "False" }
        : { type: "Ready", status: "True", lastTransitionTime: Time.format(now - readyFor * 1000) }
    ]
  }
})

const Case = Schema.Struct({
  desired: Schema.Literals([0, 1, 2, 3, 5, 600]),
  min: Schema.Literals([0, 5, 10]),
  failing: Schema.Boolean,
  hadFailed: Schema.Boolean,
  terminating: Schema.UndefinedOr(Schema.Literals([0, 2])),
  generation: Schema.Literals([1, 2])
})

const cases = Arbitrary.all({
  model: Arbitrary.schema(Case),
  facts: Arbitrary.array(Arbitrary.schema(Facts), { maxLength: 6 })
})

type Value = { readonly model: typeof Case.Type; readonly facts: ReadonlyArray<Facts> }

const stale: Replicas.Condition = {
  type: "ReplicaFailure",
  status: "True",
  reason: "FailedCreate",
  message: "once",
  lastTransitionTime: Time.format(0)
}

const foreign: Replicas.Condition = { type: "Foreign", status: "Unknown" }

const ownerOf = ({ desired, generation, hadFailed, min }: Value["model"]): Replicas.ReplicaOwner => ({
  metadata: { name: "web", generation },
  spec: { replicas: desired, minReadySeconds: min, template: { metadata: { labels: { app: "web", tier: "front" } } } },
  status: { replicas: 0, conditions: hadFailed ? [foreign, stale] : [foreign] }
})

const stepHolds = ({ facts, model }: Value): boolean => {
  const pods = facts.map(podOf)
  const step = Replicas.step(model.desired, pods, () => pods, now)
  const surplus = pods.length - model.desired
  switch (step._tag) {
    case "Nothing":
      return surplus === 0
    case "Create":
      return surplus < 0 && step.count === Math.min(-surplus, 500)
    case "Delete":
      return surplus > 0 && step.pods.length === surplus && step.pods.every((pod) => pods.includes(pod))
  }
}

const statusHolds = ({ facts, model }: Value): boolean => {
  const owner = ownerOf(model)
  const pods = facts.map(podOf)
  const surplus = pods.length - model.desired
  const failure = model.failing ? "refused" : undefined
  const status = Replicas.status({ owner, active: pods, terminating: model.terminating, failure, now })
  const available = facts.filter(({ readyFor }) => readyFor !== undefined && readyFor >= model.min)
  const failed = status.conditions?.filter(({ type }) => type === "ReplicaFailure")
  const expected: Replicas.Condition | undefined = !model.failing
    ? undefined
    : model.hadFailed
      ? stale
      : {
          type: "ReplicaFailure",
          status: "True",
          reason: surplus < 0 ? "FailedCreate" : surplus > 0 ? "FailedDelete" : "",
          message: "refused",
          lastTransitionTime: Time.format(now)
        }
  const waiting = facts.flatMap(({ readyFor }) =>
    readyFor !== undefined && readyFor < model.min ? [(model.min - readyFor) * 1000] : []
  )
  return (
    status.replicas === pods.length &&
    status.fullyLabeledReplicas === facts.filter(({ labelled }) => labelled).length &&
    status.readyReplicas === facts.filter(({ readyFor }) => readyFor !== undefined).length &&
    status.availableReplicas === available.length &&
    status.terminatingReplicas === model.terminating &&
    status.observedGeneration === model.generation &&
    JSON.stringify(failed) === JSON.stringify(expected === undefined ? [] : [expected]) &&
    status.conditions?.[0] === foreign &&
    !Replicas.isCurrent(owner, status, true) &&
    Replicas.isCurrent({ ...owner, status }, status, true) &&
    Replicas.recheck({ owner, active: pods, now }, status) === (waiting.length === 0 ? undefined : Math.min(...waiting))
  )
}

describe("replicas", () => {
  checkProperty(
    "moves the count towards the desired one, with a status that equals the pods",
    cases,
    (value) => stepHolds(value) && statusHolds(value),
    { runs: runs(1000) }
  )

  it("syncs again after minReadySeconds if a pod has no ready time", () => {
    const owner = ownerOf({ desired: 1, min: 10, failing: false, hadFailed: false, terminating: 0, generation: 1 })
    const timeless: Pod = { metadata: { name: "a" }, status: { conditions: [{ type: "Ready", status: "True" }] } }
    const status = Replicas.status({ owner, active: [timeless], terminating: 0, failure: undefined, now })
    assert.deepInclude(status, { readyReplicas: 1, availableReplicas: 0 })
    assert.strictEqual(Replicas.recheck({ owner, active: [timeless], now }, status), 10_000)
  })

  it("an absent count is zero and absent conditions are an empty list, so the status is not written", () => {
    const owner: Replicas.ReplicaOwner = {
      metadata: { name: "web", generation: 1 },
      spec: { replicas: 0 },
      status: { replicas: 0, terminatingReplicas: 0, observedGeneration: 1 }
    }
    const status = Replicas.status({ owner, active: [], terminating: 0, failure: undefined, now })
    assert.isTrue(Replicas.isCurrent(owner, status, true))
    assert.isFalse(Replicas.isCurrent({ metadata: { name: "web", generation: 1 } }, status, true))
    for (const change of [
      { replicas: 1 },
      { readyReplicas: 1 },
      { terminatingReplicas: 1 },
      { conditions: [foreign] },
      { conditions: [foreign, stale] }
    ])
      assert.isFalse(Replicas.isCurrent(owner, { ...status, ...change }, true))
  })

  it("conditions are current if all fields are equal; an absent reason or message is empty", () => {
    const metadata = { name: "web", generation: 1 }
    const isCurrent = (before: Replicas.Condition, after: Replicas.Condition): boolean => {
      const common = { replicas: 0, observedGeneration: 1 }
      const owner: Replicas.ReplicaOwner = {
        metadata,
        spec: { replicas: 0 },
        status: { ...common, conditions: [before] }
      }
      return Replicas.isCurrent(owner, { ...common, conditions: [after] }, true)
    }
    assert.isTrue(isCurrent(stale, { ...stale }))
    assert.isTrue(isCurrent({ type: "A", status: "True" }, { type: "A", status: "True", reason: "", message: "" }))
    assert.isTrue(isCurrent({ type: "A", status: "True", reason: "", message: "" }, { type: "A", status: "True" }))
    for (const change of [
      { type: "Other" },
      { status: "False" },
      { reason: "Other" },
      { message: "other" },
      { lastTransitionTime: Time.format(1000) }
    ])
      assert.isFalse(isCurrent(stale, { ...stale, ...change }), JSON.stringify(change))
  })

  it("a status without conditions and generation has no such fields", () => {
    const status = Replicas.status({
      owner: { metadata: { name: "web" } },
      active: [],
      terminating: undefined,
      failure: undefined,
      now
    })
    assert.doesNotHaveAnyKeys(status, ["terminatingReplicas", "observedGeneration", "conditions"])
  })

  it("an owner without defaulted fields has one desired pod and no minReadySeconds", () => {
    const bare: Replicas.ReplicaOwner = { metadata: { name: "web" } }
    assert.strictEqual(Replicas.desired(bare), 1)
    assert.strictEqual(Replicas.minReadySeconds(bare), 0)
  })

  it("an absent status is current only if all counts are zero", () => {
    const status = { replicas: 0 }
    assert.isFalse(Replicas.isCurrent({ metadata: { name: "web", generation: 1 } }, status, false))
    assert.isTrue(Replicas.isCurrent({ metadata: { name: "web" } }, status, false))
    assert.isFalse(Replicas.isCurrent({ metadata: { name: "web" } }, { ...status, conditions: [foreign] }, false))
  })

  it("all pods are fully labelled if the template has no metadata", () => {
    const owner: Replicas.ReplicaOwner = { metadata: { name: "web" }, spec: { template: {} } }
    const status = Replicas.status({
      owner,
      active: [{ metadata: { name: "a" } }],
      terminating: undefined,
      failure: undefined,
      now
    })
    assert.deepInclude(status, { replicas: 1, fullyLabeledReplicas: 1 })
  })

  it("an owner without minReadySeconds is not reconciled again, whatever its counts", () => {
    const owner: Replicas.ReplicaOwner = { metadata: { name: "web" }, spec: { minReadySeconds: 0 } }
    assert.isUndefined(Replicas.recheck({ owner, active: [], now }, { replicas: 1, readyReplicas: 1 }))
  })
})
