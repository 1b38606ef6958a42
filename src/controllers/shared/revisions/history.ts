/**
 * The history of an owner's template, as ControllerRevisions: one object for each template that there was, numbered in the order in which they
 * were used last. Pure; who claims and writes them is the owner's loop. The data is the patch that brings a template back, which is
 * what `kubectl rollout undo` sends. Source: pkg/controller/history, pkg/controller/daemon/update.go.
 */
import * as Equality from "../../../kube/equality.ts"
import type { Draft, KubeObject } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import * as PodDefaults from "../../../kube/podDefaults.ts"
import type * as Resource from "../../../kube/Resource.ts"
import type { ControllerRevision } from "../../../kube/resources.ts"
import type { Template } from "../workload/podControl.ts"

/** On pods and revisions: by which of the owner's templates they were made. Source: apps/v1 ControllerRevisionHashLabelKey. */
export const hashLabel = "controller-revision-hash"

/** The hash label of a pod or revision; undefined if it has none. */
export const hashOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.[hashLabel]

/**
 * The patch that sets the template. Keys are in order: others compare it byte for byte with what they compute themselves.
 * Source: daemon and statefulset getPatch.
 */
export const dataOf = (template: unknown): object => ({
  spec: { template: { $patch: "replace", ...(sorted(template ?? {}) as object) } }
})

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]))
}

/** The template that the data brings back; undefined if it cannot be understood. */
export const templateOf = (revision: ControllerRevision): object | undefined => {
  const data: unknown = revision.data
  const { $patch, ...kept } = member(member(data, "spec"), "template")
  return $patch === "replace" ? kept : undefined
}

/** Whether it is that template's, however it is written. One whose data cannot be understood is no template's. */
export const isOf = (revision: ControllerRevision, template: unknown): boolean => {
  const kept = templateOf(revision)
  return kept !== undefined && Equality.equal(kept, template)
}

/**
 * Whether it would be that template's if a server stored it now: servers learn new defaults, and a revision keeps the template that was written
 * before. Source: pkg/controller/statefulset setMatchesLatestExistingRevision.
 */
export const meant = (revision: ControllerRevision, template: unknown): boolean => {
  const kept = templateOf(revision)
  return kept !== undefined && Equality.equal(PodDefaults.template(kept), template)
}

const member = (value: unknown, key: string): Readonly<Record<string, unknown>> => {
  const found = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined
  return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {}
}

/** An owner's revisions, seen from its present template. */
export interface History {
  /** The present template's; of several the one with the highest number. */
  readonly current: ControllerRevision | undefined
  /** Further ones of the present template. */
  readonly duplicates: ReadonlyArray<ControllerRevision>
  /** Of other templates, lowest number first. */
  readonly old: ReadonlyArray<ControllerRevision>
  /** The number of the current one: higher than that of all old ones. */
  readonly number: number
}

export const of = (revisions: ReadonlyArray<ControllerRevision>, template: unknown): History => {
  const all = inOrder(revisions)
  const same = all.filter((revision) => isOf(revision, template))
  const old = all.filter((revision) => !same.includes(revision))
  const current = same.at(-1)
  const next = (old.at(-1)?.revision ?? 0) + 1
  return { current, duplicates: same.slice(0, -1), old, number: Math.max(next, current?.revision ?? 0) }
}

/** Lowest number first. */
export const inOrder = (revisions: ReadonlyArray<ControllerRevision>): ReadonlyArray<ControllerRevision> =>
  [...revisions].sort(byNumber)

/** Of equals the older one first. */
const byNumber = (a: ControllerRevision, b: ControllerRevision): number =>
  a.revision - b.revision || compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || names(a, b)

const names = (a: ControllerRevision, b: ControllerRevision): number => compare(a.metadata.name, b.metadata.name)

const compare = (a = "", b = ""): number => (a < b ? -1 : a > b ? 1 : 0)

/** What one is made of. */
export interface Making {
  readonly resource: Resource.Any
  readonly owner: KubeObject
  readonly template: Template
  readonly hash: string
  readonly number: number
  /** Which label has the hash; {@link hashLabel} unless said otherwise. */
  readonly label?: string | undefined
  /** With what the name begins; the owner's name unless said otherwise. */
  readonly prefix?: string | undefined
}

/** A draft with a name, which is needed when the name is taken. */
type Named = Draft<ControllerRevision> & { readonly metadata: { readonly name: string } }

export const draft = ({ hash, label = hashLabel, number, owner, prefix, resource, template }: Making): Named => {
  const { annotations, name, namespace } = owner.metadata
  return {
    metadata: {
      name: `${prefix ?? name}-${hash}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...template.metadata?.labels, [label]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [Owner.reference(resource, owner)]
    },
    data: dataOf(template),
    revision: number
  }
}

/** The lowest ones that are above the limit; one that is still in use stays, and counts. */
export const excess = (
  old: ReadonlyArray<ControllerRevision>,
  limit: number,
  isUsed: (hash: string) => boolean
): ReadonlyArray<ControllerRevision> => {
  const surplus = old.length - limit
  if (surplus <= 0) return []
  return old.filter((revision) => !isUsed(hashOf(revision) ?? "")).slice(0, surplus)
}
