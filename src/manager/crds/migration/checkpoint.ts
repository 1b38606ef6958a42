/**
 * How far migrations have come, in a ConfigMap of the cluster, so that a run continues where an earlier one was killed, on whatever machine. A checkpoint
 * is only a hint: without it a run begins with the first object, and an object that is written twice is the same. So missing rights are a warning.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ApiError from "../../../kube/ApiError.ts"
import * as Patch from "../../../kube/Patch.ts"
import { ConfigMap } from "../../../kube/resources.ts"
import { type Client, KubeClient } from "../../../layers/KubeClient.ts"

const Checkpoint = Schema.Struct({
  uid: Schema.String,
  generation: Schema.Finite,
  storageVersion: Schema.String,
  continue: Schema.NonEmptyString
})

/** All objects before the page of the continue token were written while the definition had this uid, generation and storage version. */
export type Checkpoint = typeof Checkpoint.Type

/** The checkpoints of all definitions, by their name. None of the effects fails. */
export interface Checkpoints {
  /** Undefined if there is none. */
  readonly read: (name: string) => Effect.Effect<Checkpoint | undefined>
  readonly save: (name: string, checkpoint: Checkpoint) => Effect.Effect<void>
  /** Removes it, and the ConfigMap with the last one. */
  readonly forget: (name: string) => Effect.Effect<void>
}

/** The name of the ConfigMap. */
export const configMapName = "crds-migrate"

export const make = (namespace: string): Effect.Effect<Checkpoints, never, KubeClient> =>
  Effect.map(KubeClient, (client) => {
    const target = { namespace, name: configMapName }
    let isWarned = false
    const lenient = <A>(call: Effect.Effect<A, ApiError.ApiError>): Effect.Effect<A | undefined> =>
      Effect.catch(call, (error) => {
        if (isWarned || ApiError.hasReason(error, "NotFound", "Conflict")) return Effect.undefined
        isWarned = true
        return Effect.as(
          Effect.logWarning(
            `The position in the migration cannot be kept in the ConfigMap ${namespace}/${configMapName}: ${error.detail}. The next run begins with the first object`
          ),
          undefined
        )
      })
    return {
      read: (name) => Effect.map(lenient(client.get(ConfigMap, target)), (found) => parse(found?.data, name)),
      save: (name, checkpoint) =>
        lenient(write(client, namespace, { [name]: JSON.stringify(checkpoint) })).pipe(Effect.asVoid),
      forget: (name) => lenient(remove(client, namespace, name)).pipe(Effect.asVoid)
    }
  })

/** A checkpoint that another client has changed counts as none. */
const parse = (data: Readonly<Record<string, string>> | undefined, name: string): Checkpoint | undefined => {
  const text = data !== undefined && Object.hasOwn(data, name) ? data[name] : undefined
  return text === undefined ? undefined : Option.getOrUndefined(decode(text))
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Checkpoint))

const write = (client: Client, namespace: string, data: Readonly<Record<string, string>>) =>
  Effect.catchIf(
    client.patch(ConfigMap, { namespace, name: configMapName }, Patch.merge({ data })),
    (error) => ApiError.hasReason(error, "NotFound"),
    () => client.create(ConfigMap, { metadata: { namespace, name: configMapName }, data })
  )

const remove = Effect.fnUntraced(function* (client: Client, namespace: string, name: string) {
  const target = { namespace, name: configMapName }
  const left = yield* client.patch(ConfigMap, target, Patch.merge({ data: { [name]: null } }))
  if (Object.keys(left.data ?? {}).length > 0) return
  const { resourceVersion, uid } = left.metadata
  yield* client.delete(ConfigMap, target, { preconditions: { uid, resourceVersion } })
})
