/**
 * What may happen to a cluster with Deployments, as data: users change specs, pods and nodes fail, controllers crash, requests
 * fail. A sequence is a list of such steps, so it can be generated, shrunk, printed and replayed. Two Deployments take part, to show
 * that a step on one does not affect the other.
 */
import * as Schema from "effect/Schema"
import type * as Faults from "../../src/apiserver/faults.ts"

const whose = Schema.Literals(["a", "b"])
const amount = Schema.Literals([0, 1, 2, 3, "0%", "25%", "34%", "50%", "100%"])
const small = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** What a user does. */
const User = [
  Schema.TaggedStruct("Create", { whose, replicas: small(6) }),
  /** Image 4 cannot be pulled. */
  Schema.TaggedStruct("SetImage", { whose, image: small(4) }),
  Schema.TaggedStruct("Scale", { whose, replicas: small(8) }),
  Schema.TaggedStruct("Pause", { whose }),
  Schema.TaggedStruct("Resume", { whose }),
  /** To the revision before (0), or to that many revisions before the newest. */
  Schema.TaggedStruct("Rollback", { whose, back: small(4) }),
  Schema.TaggedStruct("Recreate", { whose }),
  Schema.TaggedStruct("RollingUpdate", { whose, maxSurge: amount, maxUnavailable: amount }),
  Schema.TaggedStruct("Annotate", { whose, value: small(3) }),
  Schema.TaggedStruct("Delete", { whose, propagation: Schema.Literals(["Background", "Foreground"]) })
] as const

/** What machines do. `nth` picks one of those that are there. */
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

/** What happens to the loops themselves. */
const Crashes = [
  /** It is gone without a word and starts again, knowing nothing. */
  Schema.TaggedStruct("Crash", { loop: Schema.Literals(["deployment", "replicaset", "garbagecollector", "podgc"]) })
] as const

/** What happens between the loops and the server. */
const Faulty = [
  Schema.TaggedStruct("Conflicts", {
    resource: Schema.Literals(["deployments.apps", "replicasets.apps"]),
    times: small(5)
  }),
  Schema.TaggedStruct("Throttles", { resource: Schema.Literals(["replicasets.apps", "pods"]), times: small(5) }),
  Schema.TaggedStruct("Errors", { resource: Schema.Literals(["replicasets.apps", "pods"]), times: small(5) }),
  /** Requests take their time. */
  Schema.TaggedStruct("Slow", {
    resource: Schema.Literals(["replicasets.apps", "pods"]),
    seconds: Schema.Literals([1, 7]),
    times: small(5)
  }),
  /** Answers get lost: what was asked for has been done. */
  Schema.TaggedStruct("LostAnswers", { resource: Schema.Literals(["replicasets.apps", "pods"]), times: small(3) }),
  /** The cache falls behind until the watch is given up. */
  Schema.TaggedStruct("Stale", { resource: Schema.Literals(["deployments.apps", "replicasets.apps", "pods"]) }),
  Schema.TaggedStruct("Relist", { resource: Schema.Literals(["deployments.apps", "replicasets.apps", "pods"]) })
] as const

export const Do = Schema.Union([...User, ...Failures, ...Crashes, ...Faulty])
export type Do = typeof Do.Type

export const Step = Schema.Struct({
  do: Do,
  /** How long nothing else happens, in milliseconds. */
  wait: Schema.Literals([0, 0, 300, 2_000, 7_000, 31_000])
})
export type Step = typeof Step.Type

const beginning = {
  /** The first Deployment exists from the start, with so many replicas. */
  replicas: small(6),
  /** Another manager has been at work: its replica set is there already, under a hash that ours would not have given it. */
  inherits: Schema.Boolean
}

export const Sequence = Schema.Struct({
  ...beginning,
  steps: Schema.Array(Step)
})
export type Sequence = typeof Sequence.Type

/** The same without what machines and networks do: there the bounds of a rollout hold for pods, at every moment. */
export const WithoutFaults = Schema.Struct({
  ...beginning,
  steps: Schema.Array(Schema.Struct({ do: Schema.Union(User), wait: Step.fields.wait }))
})

const isWrite = (verb: string): boolean => ["create", "update", "patch", "delete"].includes(verb)

/** A bad day, as a rule of the fault script. */
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
