/**
 * Everything that happened to Jobs, pods and tokens, in the order of the server, and which invariants it broke: pure. The checks of Jobs are those of
 * the loop's own model, applied to what a server has stored, by whichever process.
 */
import * as PodFacts from "../../../src/kube/pod.ts"
import type { Job, Pod, Secret } from "../../../src/kube/resources.ts"
import * as Ledger from "../../controllers/job/model/ledger.ts"

export type Entry = { readonly type: string } & (
  | { readonly kind: "Job"; readonly object: Job }
  | { readonly kind: "Pod"; readonly object: Pod }
  | { readonly kind: "Secret"; readonly object: Secret }
)

const revision = ({ object }: Entry): number => Number(object.metadata.resourceVersion)

/** Each watch gets its own kind in order; resourceVersions order the kinds together. */
const ordered = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> =>
  entries.toSorted((a, b) => revision(a) - revision(b))

export interface Knows {
  /** Whether the server stores `status.uncountedTerminatedPods`: without it the status does not show a pod that is counted twice. */
  readonly uncounted: boolean
}

const ownerOf = ({ metadata }: Pod): string =>
  metadata.ownerReferences?.find((reference) => reference.controller === true)?.uid ?? ""

const isHeld = ({ metadata }: Pod): boolean =>
  metadata.finalizers?.includes("batch.kubernetes.io/job-tracking") === true

/** The node for which a daemon's pod is created: its affinity names it before it is bound. */
export const nodeOf = ({ spec }: Pod): string =>
  spec?.nodeName ??
  spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]?.matchFields?.[0]
    ?.values?.[0] ??
  ""

/** The broken invariants, in words; each Job is reported once. */
export const wrong = (entries: ReadonlyArray<Entry>, knows: Knows): ReadonlyArray<string> => {
  const jobs = new Map<string, Job>()
  const pods = new Map<string, Pod>()
  const secrets = new Map<string, Secret>()
  const ledgers = new Map<string, Ledger.Ledger>()
  const said: Array<string> = []

  const onJob = (job: Job, isGone: boolean): void => {
    const { uid = "" } = job.metadata
    const before = jobs.get(uid)
    const ledger = ledgers.get(uid) ?? Ledger.make()
    ledgers.set(uid, ledger)
    jobs.set(uid, job)
    if (!knows.uncounted || isGone || before === undefined) return
    if (JSON.stringify(before.status) !== JSON.stringify(job.status)) ledger.status(before, job)
  }
  const onPod = (pod: Pod, isGone: boolean): void => {
    const { uid = "" } = pod.metadata
    const before = pods.get(uid)
    pods.set(uid, pod)
    const live = [...pods.values()].filter((one) => ownerOf(one) === ownerOf(pod) && PodFacts.isActive(one))
    const job = jobs.get(ownerOf(pod))
    if (before === undefined && pod.metadata.labels?.["daemon"] !== undefined) {
      const there = live.filter((one) => nodeOf(one) === nodeOf(pod))
      if (there.length > 1) said.push(`${there.map(({ metadata }) => metadata.name).join(" and ")} on ${nodeOf(pod)}`)
    }
    if (job !== undefined) {
      const ledger = ledgers.get(ownerOf(pod))
      ledger?.pod(pod)
      if (before === undefined) ledger?.created(job, live.length, job.spec?.parallelism ?? 1)
      const losesFinalizer = before !== undefined && isHeld(before) && !isHeld(pod)
      if (knows.uncounted && losesFinalizer && job.metadata.deletionTimestamp === undefined)
        ledger?.removeFinalizer(job, pod, before)
    }
    if (isGone) pods.delete(uid)
  }
  const onSecret = (secret: Secret): void => {
    const { name, uid = "" } = secret.metadata
    const before = secrets.get(uid)?.data?.["token"]
    secrets.set(uid, secret)
    if (before !== undefined && before !== secret.data?.["token"]) said.push(`the token of ${name} was made anew`)
  }

  for (const entry of ordered(entries)) {
    if (entry.kind === "Job") onJob(entry.object, entry.type === "DELETED")
    else if (entry.kind === "Pod") onPod(entry.object, entry.type === "DELETED")
    else onSecret(entry.object)
  }
  for (const [uid, ledger] of ledgers) {
    const first = ledger.wrong()
    if (first !== undefined) said.push(`Job ${jobs.get(uid)?.metadata.name}: ${first}`)
  }
  return said
}

/** How the pods of each Job ended, by the Job's uid: the first end counts, and a pod that is deleted before its end has failed. */
export const ends = (entries: ReadonlyArray<Entry>) => {
  const found = new Map<string, { readonly Succeeded: Set<string>; readonly Failed: Set<string> }>()
  for (const { kind, object } of ordered(entries)) {
    if (kind !== "Pod" || PodFacts.isActive(object)) continue
    const job = ownerOf(object)
    const of = found.get(job) ?? { Succeeded: new Set(), Failed: new Set() }
    found.set(job, of)
    const { uid = "" } = object.metadata
    if (object.status?.phase === "Succeeded" && !of.Failed.has(uid)) of.Succeeded.add(uid)
    else if (!of.Succeeded.has(uid)) of.Failed.add(uid)
  }
  return found
}
