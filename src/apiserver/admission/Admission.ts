/**
 * Admission: plugins that complete an object before it is validated (`admit`), check it afterwards (`check`), or check a deletion
 * (`remove`) or a connection (`connect`). They run in the order of the list; those of webhooks wait. What has to be true when the object is stored is decided in the
 * synchronous section of the commit (`atCommit`). Policy belongs here, the validation of resources in `validation/`, webhooks in `webhook/`.
 */
import * as Effect from "effect/Effect"
import type { JsonObject } from "../json.ts"
import type { Target } from "../routing.ts"
import type { DeleteOptions } from "../validation/lifecycle.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import type { RequestContext, State } from "../RequestContext.ts"
import type { Authenticator } from "../authentication/Authenticator.ts"
import * as StatusError from "../StatusError.ts"
import type { NodeConnection } from "../../layers/NodeConnection.ts"
import type { WebhookCaller } from "../webhook/WebhookCaller.ts"

/** The state that the endpoints use, beside the stored one. */
export interface ServerState extends State {
  readonly admission: Admission
  readonly authenticator: Authenticator
  readonly caller: WebhookCaller
  /** The kubelets, while they are connected. */
  readonly nodes: { connection: NodeConnection | undefined }
}

/** The context of a request at the endpoints and in admission; endpoints/handlers `RequestScope` is its model. */
export interface RequestScope extends RequestContext {
  readonly state: ServerState
}

/** The write of an object, on its main endpoint unless the target has a subresource. */
export interface Write {
  readonly context: RequestScope
  readonly target: Target
  /** The new state; `admit` may change it in place, `check` may not. */
  readonly object: JsonObject
  /** Undefined when the object is created. */
  readonly before: JsonObject | undefined
  readonly dryRun: boolean
  /** The kind of the object, for a subresource with a kind of its own. */
  readonly as?: GroupVersionKind | undefined
}

/** The kind of an object that is not of the kind of its target. */
export type GroupVersionKind = Pick<ResourceDefinition, "group" | "version" | "kind">

/** The deletion of an object, immediate or by deletionTimestamp. */
export interface Deletion {
  readonly context: RequestScope
  /** Without a name where a whole collection is deleted. */
  readonly target: Target
  readonly name: string
  /** The object to delete; must not be changed. */
  readonly before: JsonObject
  readonly options: DeleteOptions
}

/** A connection to a subresource, such as `pods/exec`. */
export interface Connection {
  readonly context: RequestScope
  readonly target: Target
  /** The options of the connection: `PodExecOptions` and the like. */
  readonly object: JsonObject
  readonly as: GroupVersionKind
}

/** Undefined admits and a StatusError refuses. A plugin that waits returns an effect that does one of the two. */
export type Answer = Effect.Effect<void, StatusError.StatusError> | undefined

/** What is written together with the object, or why the object is refused; undefined is neither. */
export type AtCommit = (() => void) | StatusError.StatusError | undefined

export interface Plugin {
  readonly name: string
  readonly admit?: (write: Write) => Answer
  readonly check?: (write: Write) => Answer
  /** Runs in the synchronous section that stores the object: a request may have waited since `admit` and `check`. */
  readonly atCommit?: (write: Write) => AtCommit
  readonly remove?: (deletion: Deletion) => Answer
  readonly connect?: (connection: Connection) => Answer
  /** Whether it also handles writes through subresources. */
  readonly subresources?: true
}

type Phase<A> = (of: A) => Answer

/** All plugins on the main endpoint; through a subresource, only those with `subresources`. */
export interface Admission {
  readonly admit: Phase<Write>
  readonly check: Phase<Write>
  readonly atCommit: (write: Write) => AtCommit
  readonly remove: Phase<Deletion>
  readonly connect: Phase<Connection>
}

const chained = <A>(steps: ReadonlyArray<((of: A) => Answer) | undefined>): Phase<A> => {
  const present = steps.filter((step) => step !== undefined)
  const from = (start: number, of: A): Answer => {
    for (let index = start; index < present.length; index++) {
      const answer = present[index]?.(of)
      if (answer !== undefined) return Effect.flatMap(answer, () => from(index + 1, of) ?? Effect.void)
    }
    return undefined
  }
  return (of) => from(0, of)
}

/** The first refusal, or all that is to be written. */
const together = (steps: ReadonlyArray<((write: Write) => AtCommit) | undefined>): ((write: Write) => AtCommit) => {
  const present = steps.filter((step) => step !== undefined)
  return (write) => {
    const writes: Array<() => void> = []
    for (const step of present) {
      const answer = step(write)
      if (answer instanceof StatusError.StatusError) return answer
      if (answer !== undefined) writes.push(answer)
    }
    return writes.length === 0 ? undefined : () => writes.forEach((one) => one())
  }
}

/** The phase for the whole object, and for a part of it. */
const phase = <A>(
  plugins: ReadonlyArray<Plugin>,
  chain: (plugins: ReadonlyArray<Plugin>) => (write: Write) => A
): ((write: Write) => A) => {
  const whole = chain(plugins)
  const part = chain(plugins.filter(({ subresources }) => subresources === true))
  return (write) => (write.target.subresource === "" ? whole(write) : part(write))
}

export const chain = (plugins: ReadonlyArray<Plugin>): Admission => ({
  admit: phase(plugins, (some) => chained(some.map(({ admit }) => admit))),
  check: phase(plugins, (some) => chained(some.map(({ check }) => check))),
  atCommit: phase(plugins, (some) => together(some.map(({ atCommit }) => atCommit))),
  remove: chained(plugins.map(({ remove }) => remove)),
  connect: chained(plugins.map(({ connect }) => connect))
})

/** Runs both phases for the object of a subresource with a kind of its own: such an object is not stored. */
export const admitSubresource = (
  write: Write & { readonly as: GroupVersionKind }
): Effect.Effect<void, StatusError.StatusError> => {
  const { admission } = write.context.state
  return StatusError.after(admission.admit(write), () => admission.check(write) ?? Effect.void)
}
