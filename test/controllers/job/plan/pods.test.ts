/** What the Job loop asks of a pod: its index, how often it has failed before, and when it ended. Spec D.3, D.9, D.11. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Pods from "../../../../src/controllers/job/pods.ts"
import type { Job, Pod } from "../../../../src/kube/resources.ts"
import * as Time from "../../../../src/kube/time.ts"
import { law, prove } from "../../../support/laws.ts"

type Module = typeof Pods

const Seconds = Schema.Literals([10, 20, 30, 40])

/** Undefined: it has not ended. */
const End = Schema.UndefinedOr(Seconds)

const Facts = Schema.Struct({
  containers: Schema.Array(End).check(Schema.isMaxLength(3)),
  sidecar: Schema.UndefinedOr(Schema.Struct({ end: End })),
  init: Schema.UndefinedOr(Seconds),
  ready: Schema.Literals(["True", "False", "none"]),
  since: Schema.UndefinedOr(Seconds),
  asked: Schema.UndefinedOr(Seconds),
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

const podOf = ({ asked, containers, grace, init, phase, ready, sidecar, since }: Facts): Pod => ({
  metadata: {
    name: "p",
    creationTimestamp: at(1),
    ...(asked === undefined ? {} : { deletionTimestamp: at(asked) }),
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

prove<Module>({
  path: "controllers/job/pods.ts",
  module: Pods,
  laws: [
    law(
      "a pod has ended with the last of its containers and sidecars, or when it was no longer ready",
      facts,
      ({ endedAt }, one) => {
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
              : one.asked === undefined
                ? 1
                : one.asked - (one.grace ?? 0)
        return endedAt(podOf(one)) === expected * 1000
      }
    ),
    law(
      "who is deleted has failed, unless the Job waits for the end or the pod has succeeded",
      facts,
      (module, one) => {
        const job = {
          metadata: { name: "a" },
          spec: {
            template: {},
            ...(one.replaces === "policy"
              ? { podFailurePolicy: { rules: [] } }
              : { podReplacementPolicy: one.replaces })
          }
        } as Job
        const isLost = one.asked !== undefined && one.phase !== "Succeeded" && one.replaces === "TerminatingOrFailed"
        return (
          module.hasFailed(podOf(one), job) === (one.phase === "Failed" || isLost) &&
          module.hasSucceeded(podOf(one)) === (one.phase === "Succeeded")
        )
      }
    ),
    law("an index is a number that the Job has", texts, ({ indexOf, validIndexOf }, text) => {
      const annotations = text === undefined ? {} : { "batch.kubernetes.io/job-completion-index": text }
      const pod: Pod = { metadata: { name: "p", annotations } }
      const number = { "0": 0, "3": 3, "4": 4, "007": 7 }[text ?? ""]
      const job: Job = { metadata: { name: "a" }, spec: { completions: 4, template: {} } }
      return (
        indexOf(pod) === number && validIndexOf(pod, job) === (number !== undefined && number < 4 ? number : undefined)
      )
    }),
    law("a count of failures that nobody can read is none", texts, ({ allFailuresBefore, failuresBefore }, text) => {
      const of = (key: string, value: string | undefined) =>
        value === undefined ? {} : { [`batch.kubernetes.io/${key}`]: value }
      const annotations = { ...of("job-index-failure-count", text), ...of("job-index-ignored-failure-count", "2") }
      const pod: Pod = { metadata: { name: "p", annotations } }
      const number = { "0": 0, "3": 3, "4": 4, "007": 7 }[text ?? ""] ?? 0
      return failuresBefore(pod) === number && allFailuresBefore(pod) === number + 2
    })
  ],
  mutants: [
    { title: "sidecars do not count", find: "if (inits.length === 0) return own", replace: "return own" },
    { title: "all init containers count", find: ".filter(({ name }) => sidecars.has(name))", replace: "" },
    { title: "the first container to end counts", find: "at > last) last", replace: "at < last) last" },
    {
      title: "one that runs does not matter",
      find: "if (at === undefined) return undefined\n    if (last",
      replace: "if (at === undefined) continue\n    if (last"
    },
    { title: "who is ready has ended", find: 'ready?.status === "False" ?', replace: "ready !== undefined ?" },
    { title: "it ended when it has to be gone", find: "asked - deletionGracePeriodSeconds * 1000", replace: "asked" },
    { title: "who is deleted has not failed", find: "(!Spec.replacesOnlyFailed(job) && pod", replace: "(false && pod" },
    { title: "who is deleted has failed however it ended", find: " && !hasSucceeded(pod))", replace: ")" },
    { title: "any index is one of the Job's", find: "index < Spec.indexCount(job) ?", replace: "true ?" },
    {
      title: "ignored failures do not count at all",
      find: "failuresBefore(pod) + ignoredFailuresBefore(pod)",
      replace: "failuresBefore(pod)"
    }
  ]
})
