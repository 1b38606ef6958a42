/**
 * The bodies of new pods of a Job: the template with the tracking finalizer, and for an index its name, labels, annotations and environment
 * variable; and the patches that remove the finalizer. Source: pkg/controller/job: manageJob, removeTrackingFinalizerPatch.
 */
import * as Finalizers from "../../kube/finalizers.ts"
import type { Draft } from "../../kube/Meta.ts"
import * as Patch from "../../kube/Patch.ts"
import { Job, type Pod } from "../../kube/resources.ts"
import * as PodControl from "../shared/workload/podControl.ts"
import * as Policies from "./plan/policies.ts"
import * as Pods from "./pods.ts"
import * as Spec from "./spec.ts"

type PodSpec = NonNullable<Pod["spec"]>
type Container = PodSpec["containers"][number]

/** The body of a pod without an index. */
export const draft = (job: Job): Draft<Pod> => {
  const body = PodControl.draft(Job, job, job.spec?.template ?? {})
  const finalizers = Finalizers.add(body.metadata.finalizers ?? [], Spec.finalizer)
  return { ...body, metadata: { ...body.metadata, finalizers } }
}

/** The body of a pod with this index. `before`: the last failed pod of the index, whose failure counts the new pod continues. */
export const indexed = (job: Job, body: Draft<Pod>, index: number, before: Pod | undefined): Draft<Pod> => {
  const { metadata, spec } = body
  return {
    ...body,
    metadata: {
      ...metadata,
      generateName: prefix(job.metadata.name, index),
      labels: { ...metadata.labels, [Pods.indexKey]: `${index}` },
      annotations: { ...metadata.annotations, [Pods.indexKey]: `${index}`, ...failures(job, before) }
    },
    ...(spec === undefined ? {} : { spec: { ...withVariable(spec), hostname: `${job.metadata.name}-${index}` } })
  }
}

/** The server keeps this many characters of `generateName`. Source: apiserver/pkg/storage/names: MaxGeneratedNameLength. */
const maxPrefixLength = 58

const prefix = (name: string, index: number): string => {
  const end = `-${index}-`
  return name.slice(0, maxPrefixLength - end.length) + end
}

const failures = (job: Job, before: Pod | undefined): Readonly<Record<string, string>> => {
  if (Spec.backoffLimitPerIndex(job) === undefined) return {}
  if (before === undefined) return { [Pods.failuresKey]: "0" }
  const counts = Policies.match(job, before).counts
  const counted = Pods.failuresBefore(before) + (counts ? 1 : 0)
  const ignored = Pods.ignoredFailuresBefore(before) + (counts ? 0 : 1)
  return { [Pods.failuresKey]: `${counted}`, ...(ignored === 0 ? {} : { [Pods.ignoredFailuresKey]: `${ignored}` }) }
}

const variableName = "JOB_COMPLETION_INDEX"

const variable = { name: variableName, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${Pods.indexKey}']` } } }

const withVariable = (spec: PodSpec): PodSpec => {
  const add = (container: Container): Container =>
    container.env?.some(({ name }) => name === variableName) === true
      ? container
      : { ...container, env: [...(container.env ?? []), variable] }
  return {
    ...spec,
    containers: spec.containers.map(add),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(add) })
  }
}

/** Removes the tracking finalizer. The uid is a precondition: a new pod of the same name keeps its finalizer. */
export const removeFinalizer = ({ metadata: { uid } }: Pod): Patch.Patch =>
  finalizerPatch(uid === undefined ? {} : { uid })

/** The same, unless the pod has changed since it was read: another owner may have adopted it. */
export const removeFinalizerIfUnchanged = ({ metadata: { resourceVersion, uid } }: Pod): Patch.Patch =>
  finalizerPatch({
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion })
  })

const finalizerPatch = (preconditions: object): Patch.Patch =>
  Patch.strategic({ metadata: { ...preconditions, "$deleteFromPrimitiveList/finalizers": [Spec.finalizer] } })
