/**
 * What may happen to a cluster with Deployments, as data: users change specs, pods and nodes fail, controllers crash, requests
 * fail. A sequence is a list of such steps, so it can be generated, shrunk, printed and replayed. There are two Deployments, so that the
 * checks see a step on one that affects the other.
 */
import * as Schema from "effect/Schema"
import type * as Faults from "../../src/apiserver/faults.ts"

const deployment = Schema.Literals(["a", "b"])
const amount = Schema.Literals([0, 1, 2, 3, "0%", "25%", "34%", "50%", "100%"])
const small = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** What a user does. */
const User = [
  Schema.TaggedStruct("Create", { deployment, replicas: small(6) }),
  /** Image 4 cannot be pulled. */
  Schema.TaggedStruct("SetImage", { deployment, image: small(4) }),
  Schema.TaggedStruct("Scale", { deployment, replicas: small(8) }),
  Schema.TaggedStruct("Pause", { deployment }),
  Schema.TaggedStruct("Resume", { deployment }),
  /** To the revision before (0), or to that many revisions before the newest. */
  Schema.TaggedStruct("Rollback", { deployment, back: small(4) }),
  Schema.TaggedStruct("Recreate", { deployment }),
  Schema.TaggedStruct("RollingUpdate", { deployment, maxSurge: amount, maxUnavailable: amount }),
  Schema.TaggedStruct("Annotate", { deployment, value: small(3) }),
  Schema.TaggedStruct("Delete", { deployment, propagation: Schema.Literals(["Background", "Foreground"]) })
] as const

/** What happens to pods and nodes. `nth` picks one of those that exist. */
const Failures = [
  Schema.TaggedStruct("CrashPod", { nth: small(9) }),
  Schema.TaggedStruct("EvictPod", { nth: small(9) }),
  Schema.TaggedStruct("DeletePod", { nth: small(9) }),
  /** A user removes the owner references of a pod. */
  Schema.TaggedStruct("OrphanPod", { nth: small(9) }),
  /** A user deletes a replica set and orphans its pods. */
  Schema.TaggedStruct("OrphanSet", { nth: small(3) }),
  Schema.TaggedStruct("LoseNode", { nth: small(2) })
] as const

/** What happens to the controllers. */
const Crashes = [
  /** It stops without a clean end and starts again without state. */
  Schema.TaggedStruct("Crash", { loop: Schema.Literals(["deployment", "replicaset", "garbagecollector", "podgc"]) })
] as const

/** What happens to requests of the controllers. */
const Faulty = [
  Schema.TaggedStruct("Conflicts", {
    resource: Schema.Literals(["deployments.apps", "replicasets.apps"]),
    times: small(5)
  }),
  Schema.TaggedStruct("Throttles", { resource: Schema.Literals(["replicasets.apps", "pods"]), times: small(5) }),
  Schema.TaggedStruct("Errors", { resource: Schema.Literals(["replicasets.apps", "pods"]), times: small(5) }),
  /** Responses are late. */
  Schema.TaggedStruct("Slow", {
    resource: Schema.Literals(["replicasets.apps", "pods"]),
    seconds: Schema.Literals([1, 7]),
    times: small(5)
  }),
  /** The server carries out the request, and its response is lost. */
  Schema.TaggedStruct("LostAnswers", { resource: Schema.Literals(["replicasets.apps", "pods"]), times: small(3) }),
  /** The watch delivers nothing until its idle limit, so the cache lags. */
  Schema.TaggedStruct("Stale", { resource: Schema.Literals(["deployments.apps", "replicasets.apps", "pods"]) }),
  Schema.TaggedStruct("Relist", { resource: Schema.Literals(["deployments.apps", "replicasets.apps", "pods"]) })
] as const

export const Do = Schema.Union([...User, ...Failures, ...Crashes, ...Faulty])
export type Do = typeof Do.Type

export const Step = Schema.Struct({
  do: Do,
  /** Milliseconds until the next step. */
  wait: Schema.Literals([0, 0, 300, 2_000, 7_000, 31_000])
})
export type Step = typeof Step.Type

const beginning = {
  /** The replicas of the first Deployment, which exists from the start. */
  replicas: small(6),
  /** Whether the Deployment has a ReplicaSet of another controller manager, under a hash that ours would not compute. */
  inherits: Schema.Boolean
}

export const Sequence = Schema.Struct({
  ...beginning,
  steps: Schema.Array(Step)
})
export type Sequence = typeof Sequence.Type

/** Sequences of what users do, without faults: the bounds of a rollout hold for pods at every revision. */
export const WithoutFaults = Schema.Struct({
  ...beginning,
  steps: Schema.Array(Schema.Struct({ do: Schema.Union(User), wait: Step.fields.wait }))
})

const isWrite = (verb: string): boolean => ["create", "update", "patch", "delete"].includes(verb)

/** The rule for the fault script that makes the step happen. */
export const faultOf = (step: (typeof Faulty)[number]["Type"]): Faults.Rule => {
  switch (step._tag) {
    case "Conflicts":
      return {
        match: ({ context }) => context.resource === step.resource && context.verb === "update",
        fault: { _tag: "Conflict" },
        times: step.times
      }
    case "Throttles":
      return {
        match: ({ context }) => context.resource === step.resource && isWrite(context.verb),
        fault: { _tag: "Throttle", retryAfterSeconds: 1 },
        times: step.times
      }
    case "Errors":
      return {
        match: ({ context }) => context.resource === step.resource && isWrite(context.verb),
        fault: { _tag: "Status", code: 500 },
        times: step.times
      }
    case "Slow":
      return {
        match: ({ context }) => context.resource === step.resource && isWrite(context.verb),
        fault: { _tag: "Delay", millis: step.seconds * 1000 },
        times: step.times
      }
    case "LostAnswers":
      return {
        match: ({ context }) => context.resource === step.resource && isWrite(context.verb),
        fault: { _tag: "DropAnswer" },
        times: step.times
      }
    case "Stale":
      return {
        match: { verb: "watch", resource: step.resource },
        fault: { _tag: "CutWatch", after: 2, how: "silence" },
        times: 1
      }
    case "Relist":
      return { match: { verb: "watch", resource: step.resource }, fault: { _tag: "Gone", after: 1 }, times: 1 }
  }
}
