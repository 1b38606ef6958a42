/**
 * The history of an owner's template: a ControllerRevision for each template, numbered in the order in which the templates were last used. Pure; the
 * controller of the owner claims and writes the revisions. The data of a revision is the patch that restores its template, which
 * `kubectl rollout undo` sends. Source: pkg/controller/history, pkg/controller/daemon/update.go.
 */
import * as Equality from "../../../kube/equality.ts"
import type { Draft, KubeObject } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import * as PodDefaults from "../../../kube/podDefaults.ts"
import type * as Resource from "../../../kube/Resource.ts"
import type { ControllerRevision } from "../../../kube/resources.ts"
import type { Template } from "../workload/podControl.ts"

/** On pods and revisions: which of the owner's templates they have. Source: apps/v1 ControllerRevisionHashLabelKey. */
export const hashLabel = "controller-revision-hash"

/** The hash label of a pod or revision; undefined if it has none. */
export const hashOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.[hashLabel]

/**
 * The patch that sets the template. The keys are sorted, because kube-controller-manager compares the data byte for byte with its own.
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

/** The template that the data restores; undefined if the data cannot be decoded. */
export const templateOf = (revision: ControllerRevision): object | undefined => {
  const data: unknown = revision.data
  const { $patch, ...kept } = member(member(data, "spec"), "template")
  return $patch === "replace" ? kept : undefined
}

/** Whether the revision has that template, apart from spellings that mean the same. False if its data cannot be decoded. */
export const isOf = (revision: ControllerRevision, template: unknown): boolean => {
  const kept = templateOf(revision)
  return kept !== undefined && Equality.equal(kept, template)
}

/**
 * Whether the revision would have that template if a server stored it now: a new server sets new defaults, and a revision keeps the template without
 * them. Source: pkg/controller/statefulset setMatchesLatestExistingRevision.
 */
export const meant = (revision: ControllerRevision, template: unknown): boolean => {
  const kept = templateOf(revision)
  return kept !== undefined && Equality.equal(PodDefaults.template(kept), template)
}

const member = (value: unknown, key: string): Readonly<Record<string, unknown>> => {
  const found = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined
  return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {}
}

/** An owner's revisions, sorted by whether they have its present template. */
export interface History {
  /** The revision of the present template; of several the one with the highest number. */
  readonly current: ControllerRevision | undefined
  /** Further revisions of the present template. */
  readonly duplicates: ReadonlyArray<ControllerRevision>
  /** Revisions of other templates, lowest number first. */
  readonly old: ReadonlyArray<ControllerRevision>
  /** The number that the current revision should have: higher than that of all old ones. */
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

/** Of equal numbers the older revision first. */
const byNumber = (a: ControllerRevision, b: ControllerRevision): number =>
  a.revision - b.revision || compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || names(a, b)

const names = (a: ControllerRevision, b: ControllerRevision): number => compare(a.metadata.name, b.metadata.name)

const compare = (a = "", b = ""): number => (a < b ? -1 : a > b ? 1 : 0)

/** What a new revision is made from. */
export interface Making {
  readonly resource: Resource.Any
  readonly owner: KubeObject
  readonly template: Template
  readonly hash: string
  readonly number: number
  /** The label that holds the hash; default: {@link hashLabel}. */
  readonly label?: string | undefined
  /** The first part of the name; default: the owner's name. */
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

/** The lowest revisions above the limit. One that is in use is not returned, but counts for the limit. */
export const excess = (
  old: ReadonlyArray<ControllerRevision>,
  limit: number,
  isUsed: (hash: string) => boolean
): ReadonlyArray<ControllerRevision> => {
  const surplus = old.length - limit
  if (surplus <= 0) return []
  return old.filter((revision) => !isUsed(hashOf(revision) ?? "")).slice(0, surplus)
}
