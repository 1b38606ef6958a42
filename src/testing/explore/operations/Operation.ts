/** What a user does to an object of a generated scenario, as data. */
import * as Effect from "effect/Effect"
import * as ApiError from "../../../kube/ApiError.ts"
import * as Key from "../../../kube/Key.ts"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import * as Patch from "../../../kube/Patch.ts"
import * as Resource from "../../../kube/Resource.ts"
import type { Cluster } from "../Exploration.ts"
import * as Path from "./path.ts"

/** One operation. Those of other users say so. */
export type Operation =
  | { readonly _tag: "Create"; readonly object: KubeObject }
  /** Sets the field; a value of undefined removes it. */
  | { readonly _tag: "Change"; readonly path: Path.Path; readonly value: unknown }
  | { readonly _tag: "Delete" }
  /** Deletes the object, and creates it again as soon as the server allows it. */
  | { readonly _tag: "Recreate"; readonly object: KubeObject }
  /** A merge patch of the object by another user. */
  | { readonly _tag: "Edit"; readonly change: object }
  /** A merge patch by another user of the object that is at that position among those of the kind that the object controls. */
  | { readonly _tag: "EditOwned"; readonly kind: Resource.Any; readonly at: number; readonly change: object }
  | { readonly _tag: "DeleteOwned"; readonly kind: Resource.Any; readonly at: number }

/** Operations on one object. */
export interface Scenario {
  /** `spec.size`: what the operations are about. Unique among the scenarios of an exploration. */
  readonly name: string
  readonly resource: Resource.AnyCustom
  readonly target: { readonly namespace: string | undefined; readonly name: string }
  readonly operations: ReadonlyArray<Operation>
}

/** The operation for a reader. */
export const text = (operation: Operation, { resource, target }: Scenario): string => {
  const object = `${Resource.qualifiedName(resource)} ${Key.make(target.namespace, target.name)}`
  switch (operation._tag) {
    case "Create":
      return `create ${object}: ${JSON.stringify(contentOf(operation.object))}`
    case "Change":
      return operation.value === undefined
        ? `remove ${Path.text(operation.path)} of ${object}`
        : `change ${Path.text(operation.path)} of ${object} to ${JSON.stringify(operation.value)}`
    case "Delete":
      return `delete ${object}`
    case "Recreate":
      return `delete ${object} and create it again`
    case "Edit":
      return `another user edits ${object}: ${JSON.stringify(operation.change)}`
    case "EditOwned":
      return `another user edits ${ownedText(operation)} of ${object}: ${JSON.stringify(operation.change)}`
    case "DeleteOwned":
      return `another user deletes ${ownedText(operation)} of ${object}`
  }
}

const ownedText = ({ at, kind }: { readonly at: number; readonly kind: Resource.Any }): string =>
  `number ${at + 1} of the ${Resource.qualifiedName(kind)}`

const contentOf = (object: KubeObject): object => {
  const { apiVersion: _, kind: _kind, metadata: _metadata, ...content } = object
  return content
}

/** The object as the user wants it after these operations; undefined once it is deleted. Edits of other users are not a part of it. */
export const wanted = (operations: ReadonlyArray<Operation>): KubeObject | undefined =>
  operations.reduce<KubeObject | undefined>((object, operation) => {
    switch (operation._tag) {
      case "Create":
      case "Recreate":
        return operation.object
      case "Change":
        return object === undefined ? undefined : (Path.put(object, operation.path, operation.value) as KubeObject)
      case "Delete":
        return undefined
      default:
        return object
    }
  }, undefined)

/** Performs all operations, a minute apart. */
export const performAll = (scenario: Scenario) =>
  Effect.fnUntraced(function* (cluster: Cluster) {
    for (const [i, operation] of scenario.operations.entries()) {
      if (i > 0) yield* cluster.advance("1 minute")
      yield* perform(operation, scenario, cluster)
    }
  })

/** Performs an operation as a step. Returns why it was refused, since what the server refuses has no effect and is no failure. */
export const perform = (
  operation: Operation,
  scenario: Scenario,
  cluster: Cluster
): Effect.Effect<string | undefined> =>
  cluster.step(text(operation, scenario), request(operation, scenario, cluster)).pipe(
    Effect.as(undefined),
    Effect.catch((error) => Effect.succeed(error.message))
  )

const request = (
  operation: Operation,
  { resource, target }: Scenario,
  cluster: Cluster
): Effect.Effect<unknown, ApiError.ApiError> => {
  const { client } = cluster
  switch (operation._tag) {
    case "Create":
      return client.create(resource, operation.object)
    case "Change": {
      const { path, value } = operation
      const op = value === undefined ? "remove" : typeof path.at(-1) === "number" ? "replace" : "add"
      return client.patch(resource, target, Patch.json([{ op, path: Path.pointer(path), value }]))
    }
    case "Delete":
      return client.delete(resource, target)
    case "Recreate":
      return Effect.andThen(client.delete(resource, target), createOnceGone(operation.object, resource, cluster))
    case "Edit":
      return client.patch(resource, target, Patch.merge(operation.change))
    case "EditOwned":
    case "DeleteOwned":
      return Effect.gen(function* () {
        const { metadata } = yield* client.get(resource, target)
        const owned = (yield* cluster.snapshot(operation.kind)).filter((one) => Owner.controlledBy(one, metadata.uid))
        const object = owned[operation.at]
        if (object === undefined) return
        yield* operation._tag === "EditOwned"
          ? client.patch(operation.kind, object.metadata, Patch.merge(operation.change))
          : client.delete(operation.kind, object.metadata)
      })
  }
}

/** A finalizer may keep the object for a while. */
const createOnceGone = (
  object: KubeObject,
  resource: Resource.AnyCustom,
  cluster: Cluster,
  attempts = 60
): Effect.Effect<unknown, ApiError.ApiError> =>
  cluster.client.create(resource, object).pipe(
    Effect.catchIf(
      (error) => attempts > 1 && ApiError.hasReason(error, "AlreadyExists"),
      () => Effect.andThen(cluster.advance("1 second"), createOnceGone(object, resource, cluster, attempts - 1))
    )
  )
