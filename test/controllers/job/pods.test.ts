/** What the Job loop reads from a pod: its index, the earlier failures of the index, and when it finished. Source: pkg/controller/job: getFinishedTime. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Pods from "../../../src/controllers/job/pods.ts"
import type { Job, Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { checkProperty } from "../../support/property.ts"
const Seconds = Schema.Literals([10, 20, 30, 40])

/** Undefined if the container runs. */
const End = Schema.UndefinedOr(Seconds)

const Facts = Schema.Struct({
  containers: Schema.Array(End).check(Schema.isMaxLength(3)),
  sidecar: Schema.UndefinedOr(Schema.Struct({ end: End })),
  init: Schema.UndefinedOr(Seconds),
  ready: Schema.Literals(["True", "False", "none"]),
  since: Schema.UndefinedOr(Seconds),
  deleted: Schema.UndefinedOr(Seconds),
  grace: Schema.UndefinedOr(Schema.Literals([0, 5])),
  phase: Schema.Literals(["Running", "Succeeded", "Failed"]),
  replaces: Schema.Literals(["Failed", "TerminatingOrFailed", "policy"])
})

type Facts = typeof Facts.Type

const facts = Arbitrary.schema(Facts)

const at = (seconds: number): string => Time.format(seconds * 1000)

const statusOf = (name: string, end: number | undefined) => ({
  name,
  image: "",
  imageID: "",
  ready: false,
  restartCount: 0,
  state: end === undefined ? { running: {} } : { terminated: { exitCode: 0, finishedAt: at(end) } }
})

const podOf = ({ deleted, containers, grace, init, phase, ready, sidecar, since }: Facts): Pod => ({
  metadata: {
    name: "p",
    creationTimestamp: at(1),
    ...(deleted === undefined ? {} : { deletionTimestamp: at(deleted) }),
    ...(grace === undefined ? {} : { deletionGracePeriodSeconds: grace })
  },
  spec: {
    containers: [],
    initContainers: [
      ...(init === undefined ? [] : [{ name: "init" }]),
      ...(sidecar === undefined ? [] : [{ name: "sidecar", restartPolicy: "Always" }])
    ]
  },
  status: {
    phase,
    containerStatuses: containers.map((end, i) => statusOf(`c${i}`, end)),
    initContainerStatuses: [
      ...(init === undefined ? [] : [statusOf("init", init)]),
      ...(sidecar === undefined ? [] : [statusOf("sidecar", sidecar.end)])
    ],
    conditions:
      ready === "none"
        ? []
        : [{ type: "Ready", status: ready, ...(since === undefined ? {} : { lastTransitionTime: at(since) }) }]
  }
})

const texts = Arbitrary.schema(
  Schema.UndefinedOr(Schema.Literals(["0", "3", "4", "007", "-1", "x", "", "1.5", "9".repeat(11)]))
)

describe("Pods", () => {
  checkProperty(
    "a pod finishes with the last of its containers and sidecars, or when it was no longer ready",
    facts,
    (one) => {
      const all = one.containers.filter((end) => end !== undefined)
      const own = all.length > 0 && all.length === one.containers.length ? Math.max(...all) : undefined
      const sidecar = one.sidecar?.end
      const last =
        one.sidecar === undefined ? own : sidecar === undefined ? undefined : Math.max(sidecar, own ?? sidecar)
      const expected =
        last !== undefined
          ? last
          : one.ready === "False" && one.since !== undefined
            ? one.since
            : one.deleted === undefined
              ? 1
              : one.deleted - (one.grace ?? 0)
      return Pods.endedAt(podOf(one)) === expected * 1000
    }
  )

  checkProperty(
    "a terminating pod has failed, unless the Job replaces only failed pods or the pod has succeeded",
    facts,
    (one) => {
      const job = {
        metadata: { name: "a" },
        spec: {
          template: {},
          ...(one.replaces === "policy" ? { podFailurePolicy: { rules: [] } } : { podReplacementPolicy: one.replaces })
        }
      } as Job
      const isLost = one.deleted !== undefined && one.phase !== "Succeeded" && one.replaces === "TerminatingOrFailed"
      return (
        Pods.hasFailed(podOf(one), job) === (one.phase === "Failed" || isLost) &&
        Pods.hasSucceeded(podOf(one)) === (one.phase === "Succeeded")
      )
    }
  )

  checkProperty("a valid index is a number below completions", texts, (text) => {
    const annotations = text === undefined ? {} : { "batch.kubernetes.io/job-completion-index": text }
    const pod: Pod = { metadata: { name: "p", annotations } }
    const number = { "0": 0, "3": 3, "4": 4, "007": 7 }[text ?? ""]
    const job: Job = { metadata: { name: "a" }, spec: { completions: 4, template: {} } }
    return (
      Pods.indexOf(pod) === number &&
      Pods.validIndexOf(pod, job) === (number !== undefined && number < 4 ? number : undefined)
    )
  })

  checkProperty("an invalid failure count is zero", texts, (text) => {
    const of = (key: string, value: string | undefined) =>
      value === undefined ? {} : { [`batch.kubernetes.io/${key}`]: value }
    const annotations = { ...of("job-index-failure-count", text), ...of("job-index-ignored-failure-count", "2") }
    const pod: Pod = { metadata: { name: "p", annotations } }
    const number = { "0": 0, "3": 3, "4": 4, "007": 7 }[text ?? ""] ?? 0
    return Pods.failuresBefore(pod) === number && Pods.allFailuresBefore(pod) === number + 2
  })
})
