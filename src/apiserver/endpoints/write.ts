/**
 * create and update; all patches end here as an update. Each try reads, changes, admits, validates and converts the object, and may wait
 * meanwhile; it stores the object in one synchronous section, and only if no other request has written it since it was read. Otherwise everything
 * is done again on the newer object. The objects passed in are changed in place; objects are stored as text. Source: apiserver/pkg/storage:
 * GuaranteedUpdate.
 */
import * as Effect from "effect/Effect"
import { ensureObject, textAt } from "../json.ts"
import type { RequestScope } from "../admission/Admission.ts"
import type { Target } from "../routing.ts"
import * as StatusError from "../StatusError.ts"
import * as Version from "../storage/Version.ts"
import type { Change, Effectful } from "./change.ts"
import { refused, startAgain, tryCreate } from "./tryCreate.ts"
import { tryUpdate } from "./tryUpdate.ts"

export interface Updated {
  readonly version: Version.Version
  readonly created: boolean
}

/** How often a write is tried while others keep writing the same object. */
const tries = 6

/** Repeats a try that finds a newer object than it has read, which it reports with undefined. */
export const retried = <A>(
  context: RequestScope,
  target: Target,
  once: () => Effectful<A | undefined>
): Effectful<A> => {
  const warnings = context.warnings.length
  const again = (left: number): Effectful<A> =>
    StatusError.andThen(once(), (done) => {
      if (done !== undefined) return Effect.succeed(done)
      if (left === 0) return StatusError.modified(target.resource, target.name)
      context.warnings.length = warnings
      return again(left - 1)
    })
  return again(tries - 1)
}

/** `read` returns the object to create; it is called once for each try. */
export const create = (
  context: RequestScope,
  target: Target,
  read: () => Change | StatusError.StatusError
): Effectful<Version.Version> => retried(context, target, () => tryCreate(context, target, read, refused))

/** Updates the object that the target names. */
export const replace = (
  context: RequestScope,
  target: Target,
  change: (existing: Version.Version) => Change | Effectful<Change>
): Effectful<Updated> =>
  retried(context, target, () => {
    const stored = storedOf(context, target)
    return stored === undefined
      ? StatusError.notFound(target.resource, target.name)
      : updated(tryUpdate(context, target, stored, change), false)
  })

/** Updates the object that the target names, or creates it under that name. `change` gets undefined where it does not exist. */
export const upsert = (
  context: RequestScope,
  target: Target,
  change: (existing: Version.Version | undefined) => Change | StatusError.StatusError
): Effectful<Updated> =>
  retried(context, target, () => {
    const stored = storedOf(context, target)
    return stored === undefined
      ? createNamed(context, target, () => change(undefined))
      : updated(tryUpdate(context, target, stored, change), false)
  })

const storedOf = ({ state }: RequestScope, { name, namespace, resource }: Target): Version.Version | undefined =>
  state.collection(resource.storage).get(Version.keyOf(namespace, name))

const updated = (once: Effectful<Version.Version | undefined>, created: boolean): Effectful<Updated | undefined> =>
  StatusError.andThen(once, (version) => Effect.succeed(version === undefined ? undefined : { version, created }))

/** PUT of an object that does not exist, for kinds that allow it: the name comes from the path, and a resourceVersion is an error. */
const createNamed = (
  context: RequestScope,
  target: Target,
  read: () => Change | StatusError.StatusError
): Effectful<Updated | undefined> => {
  const named = () => {
    const change = read()
    if (StatusError.isRefusal(change)) return change
    const sent = ensureObject(change.object, "metadata")
    if (textAt(sent, "uid") !== "" || !["", "0"].includes(textAt(sent, "resourceVersion"))) {
      return StatusError.notFound(target.resource, target.name)
    }
    sent["name"] = target.name
    return change
  }
  return updated(tryCreate(context, { ...target, name: "" }, named, startAgain), true)
}
