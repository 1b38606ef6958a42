/** A StatefulSet `web` and its pods, one letter for each ordinal. */
import * as Snapshot from "../../../../src/controllers/statefulset/snapshot.ts"
import type { PersistentVolumeClaim, Pod, StatefulSet } from "../../../../src/kube/resources.ts"
import * as Time from "../../../../src/kube/time.ts"

export const now = 100_000

type Phase = "Pending" | "Running" | "Succeeded" | "Failed"

const letters: Readonly<Record<string, { readonly phase: Phase; readonly isReady?: true; readonly isDeleted?: true }>> =
  {
    r: { phase: "Running", isReady: true },
    u: { phase: "Running" },
    p: { phase: "Pending" },
    t: { phase: "Running", isReady: true, isDeleted: true },
    d: { phase: "Pending", isDeleted: true },
    f: { phase: "Failed" },
    s: { phase: "Succeeded" },
    e: { phase: "Failed", isDeleted: true }
  }

/**
 * `r` is ready, `u` running but unready, `p` pending, `t` ready and being deleted, `d` pending and being deleted, `f` failed, `s` succeeded, `e` failed and
 * being deleted. A capital letter has the revision `old`, a small one `new`. Any other character is no pod. `readySince`: seconds.
 */
export const podOf = (letter: string, ordinal: number, readySince = 0): Pod | undefined => {
  const state = letters[letter.toLowerCase()]
  if (state === undefined) return undefined
  const name = `web-${ordinal}`
  const revision = letter === letter.toLowerCase() ? "new" : "old"
  return {
    metadata: {
      name,
      namespace: "ns",
      uid: `uid-${name}`,
      labels: { "controller-revision-hash": revision, "statefulset.kubernetes.io/pod-name": name },
      ...(state.isDeleted === true ? { deletionTimestamp: Time.format(now) } : {})
    },
    spec: { containers: [], volumes: [{ name: "data", persistentVolumeClaim: { claimName: `data-${name}` } }] },
    status: {
      phase: state.phase,
      conditions: [
        {
          type: "Ready",
          status: state.isReady === true ? "True" : "False",
          lastTransitionTime: Time.format(readySince * 1000)
        }
      ]
    }
  }
}

export interface Facts {
  /** The pods, from ordinal 0. */
  readonly pods: string
  readonly replicas: number
  readonly spec?: object
  readonly metadata?: object
  readonly status?: object
  /** When the ready pods became ready, in seconds. */
  readonly readySince?: number
  readonly claims?: ReadonlyArray<PersistentVolumeClaim>
  readonly change?: (pod: Pod) => Pod
}

const setOf = ({ metadata, replicas, spec, status }: Omit<Facts, "pods">): StatefulSet =>
  ({
    metadata: { name: "web", namespace: "ns", uid: "uid-web", ...metadata },
    spec: { replicas, serviceName: "web", selector: { matchLabels: { app: "web" } }, template: {}, ...spec },
    ...(status === undefined ? {} : { status })
  }) as StatefulSet

export const snapshotOf = ({
  change = (pod) => pod,
  claims = [],
  pods,
  readySince,
  ...facts
}: Facts): Snapshot.Snapshot =>
  Snapshot.take({
    set: setOf(facts),
    current: { name: "old", template: {} },
    update: { name: "new", template: {} },
    pods: Array.from(pods).flatMap((letter, ordinal) => {
      const pod = podOf(letter, ordinal, readySince)
      return pod === undefined ? [] : [change(pod)]
    }),
    claim: (name) => claims.find(({ metadata }) => metadata.name === name),
    now
  })

export const parallel = { podManagementPolicy: "Parallel" }

/** With a claim `data` for each replica. */
export const claiming = (policy: object = {}) => ({
  volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }],
  persistentVolumeClaimRetentionPolicy: policy
})

export const reference = (kind: "Pod" | "StatefulSet" | "ConfigMap", name: string, uid = `uid-${name}`) => ({
  apiVersion: kind === "StatefulSet" ? "apps/v1" : "v1",
  kind,
  name,
  uid,
  controller: true
})

export const claim = (ordinal: number, metadata: object = {}): PersistentVolumeClaim => ({
  metadata: { name: `data-web-${ordinal}`, namespace: "ns", ...metadata }
})
