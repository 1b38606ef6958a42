/** The log of the kills is checked strictly: it reports every broken invariant, in whatever order the events arrive. */
import { assert, describe, it } from "@effect/vitest"
import type { Job, Pod } from "../../../src/kube/resources.ts"
import * as Log from "./log.ts"

const finalizer = "batch.kubernetes.io/job-tracking"
const owner = { apiVersion: "batch/v1", kind: "Job", name: "sum", uid: "job", controller: true }

const job = (resourceVersion: number, status: Job["status"], parallelism = 1): Log.Entry => ({
  kind: "Job",
  type: "MODIFIED",
  object: {
    metadata: { name: "sum", namespace: "default", uid: "job", resourceVersion: `${resourceVersion}` },
    spec: { parallelism, template: { spec: { containers: [] } } },
    status
  } as Job
})

const pod = (resourceVersion: number, name: string, phase: string, held = true): Log.Entry => ({
  kind: "Pod",
  type: "MODIFIED",
  object: {
    metadata: {
      name,
      uid: name,
      resourceVersion: `${resourceVersion}`,
      ownerReferences: [owner],
      ...(held ? { finalizers: [finalizer] } : {})
    },
    status: { phase }
  }
})

const daemon = (resourceVersion: number, name: string): Log.Entry => ({
  kind: "Pod",
  type: "ADDED",
  object: {
    metadata: {
      name,
      uid: name,
      labels: { daemon: "log" },
      resourceVersion: `${resourceVersion}`,
      ownerReferences: [{ ...owner, uid: "log" }]
    },
    spec: { nodeName: "a", containers: [] }
  } as unknown as Pod
})

const secret = (resourceVersion: number, token: string | undefined): Log.Entry => ({
  kind: "Secret",
  type: "MODIFIED",
  object: {
    metadata: { name: "robot", namespace: "default", uid: "secret", resourceVersion: `${resourceVersion}` },
    data: token === undefined ? {} : { token }
  }
})

const knows = { uncounted: true }

const counted = [
  job(1, {}),
  pod(2, "a", "Pending"),
  pod(3, "a", "Succeeded"),
  job(4, { uncountedTerminatedPods: { succeeded: ["a"] } }),
  pod(5, "a", "Succeeded", false),
  job(6, { uncountedTerminatedPods: {}, succeeded: 1 })
]

describe("a log of what happened to Jobs, pods and tokens", () => {
  it("accepts a pod that is counted in two steps, in whatever order its events arrive", () => {
    assert.deepStrictEqual(Log.wrong(counted, knows), [])
    assert.deepStrictEqual(Log.wrong(counted.toReversed(), knows), [])
  })

  const bad: Readonly<Record<string, readonly [string, ReadonlyArray<Log.Entry>]>> = {
    "a pod that loses its finalizer before it is counted": [
      "Job sum: a lost its finalizer and is not in the status",
      [...counted.slice(0, 3), pod(4, "a", "Succeeded", false)]
    ],
    "a pod that is counted again": [
      "Job sum: a is counted again",
      [...counted, job(7, { uncountedTerminatedPods: { succeeded: ["a"] }, succeeded: 1 })]
    ],
    "a count without a pod": ["Job sum: succeeded went up by 1 for 0 pods", [...counted, job(7, { succeeded: 2 })]],
    "one pod too many at once": [
      "Job sum: created active pod 2 with parallelism 1",
      [job(1, {}), pod(2, "a", "Running"), pod(3, "b", "Pending")]
    ],
    "an end that was not announced": [
      "Job sum: Complete without SuccessCriteriaMet before",
      [...counted, job(7, { succeeded: 1, completionTime: "t", conditions: [{ type: "Complete", status: "True" }] })]
    ],
    "two daemons of one kind on a node": ["one and two on a", [daemon(1, "one"), daemon(2, "two")]],
    "a token that is made anew": [
      "the token of robot was made anew",
      [secret(1, undefined), secret(2, "x"), secret(3, "y")]
    ]
  }
  for (const [what, [said, entries]] of Object.entries(bad)) {
    it(`reports ${what}`, () => assert.deepStrictEqual(Log.wrong(entries, knows), [said]))
  }

  it("counts each pod by how it ended first", () => {
    const { Failed, Succeeded } = Log.ends([...counted, pod(8, "b", "Failed")]).get("job") ?? {}
    assert.deepStrictEqual([[...(Succeeded ?? [])], [...(Failed ?? [])]], [["a"], ["b"]])
  })
})
