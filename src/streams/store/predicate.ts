/**
 * Which deltas start a reconcile. A predicate filters the deltas that reach a trigger; it does not make the cache smaller, which selectors do.
 * The predicates for changes filter updates only: creations and deletions always pass.
 * Source: controller-runtime's pkg/predicate.
 */
import * as Equality from "../../kube/equality.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Selector from "../../kube/Selector.ts"
import type { Delta } from "./Store.ts"

/** True for a delta that passes. */
export type Predicate<in A> = (delta: Delta<A>) => boolean

/** Keeps deltas whose object passes: the new one for an update, the last one known for a deletion. */
export const filter =
  <A>(keep: (object: A) => boolean): Predicate<A> =>
  (delta) =>
    keep(delta.object)

/** Keeps updates for which a property differs. */
const changed =
  <A>(differs: (object: A, previous: A) => boolean): Predicate<A> =>
  (delta) =>
    delta._tag !== "Updated" || differs(delta.object, delta.previous)

/** Drops updates that change nothing, which are those of resyncs. */
export const resourceVersionChanged: Predicate<KubeObject> = changed(
  (object, previous) => object.metadata.resourceVersion !== previous.metadata.resourceVersion
)

/**
 * Keeps updates of the desired state: servers increment `generation` for those, not for writes to status, labels or annotations. Do not use it
 * for built-in kinds without a status, such as ConfigMap, which have no generation. It also drops resyncs, because they change nothing: a
 * controller that relies on periodic resyncs must not use it alone.
 */
export const generationChanged: Predicate<KubeObject> = changed(
  (object, previous) => object.metadata.generation !== previous.metadata.generation
)

/** Keeps updates that changed a label, and all creations and deletions. */
export const labelsChanged: Predicate<KubeObject> = changed(
  (object, previous) => !Equality.isSameMap(object.metadata.labels, previous.metadata.labels)
)

/** Keeps updates that changed an annotation, and all creations and deletions. */
export const annotationsChanged: Predicate<KubeObject> = changed(
  (object, previous) => !Equality.isSameMap(object.metadata.annotations, previous.metadata.annotations)
)

/** Keeps deltas whose object matches the selector; for an update, the new object. */
export const labelSelector = (selector: Selector.LabelSelector): Predicate<KubeObject> =>
  filter((object) => Selector.matchesLabels(selector, object.metadata.labels))

/** True if all predicates are; true without any. */
export const and =
  <A>(...predicates: ReadonlyArray<Predicate<A>>): Predicate<A> =>
  (delta) =>
    predicates.every((predicate) => predicate(delta))

/** True if one predicate is; false without any. */
export const or =
  <A>(...predicates: ReadonlyArray<Predicate<A>>): Predicate<A> =>
  (delta) =>
    predicates.some((predicate) => predicate(delta))

/** True if the predicate is not. */
export const not =
  <A>(predicate: Predicate<A>): Predicate<A> =>
  (delta) =>
    !predicate(delta)
