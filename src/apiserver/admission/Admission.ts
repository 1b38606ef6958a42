/**
 * Admission: plugins that complete an object before it is validated (`admit`), check it afterwards (`check`), or check a deletion
 * (`remove`). They run in the order of the list, in the synchronous section of the request. Policy belongs here, the validation of
 * resources in `validation/`, webhooks in `webhook/`.
 */
import type { JsonObject } from "../json.ts"
import type { Target } from "../routing.ts"
import type { DeleteOptions } from "../validation/lifecycle.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import type { RequestContext, State } from "../RequestContext.ts"
import type { Authenticator } from "../authentication/Authenticator.ts"
import type { WebhookResponses } from "../webhook/WebhookResponses.ts"
import type { WebhookCaller } from "../webhook/WebhookCaller.ts"

/** The state that the endpoints use, beside the stored one. */
export interface ServerState extends State {
  readonly admission: Admission
  readonly authenticator: Authenticator
  /** For conversions in a watch, which run after the request has been handled. */
  readonly caller: WebhookCaller
}

/** The context of a request at the endpoints and in admission; endpoints/handlers `RequestScope` is its model. */
export interface RequestScope extends RequestContext {
  readonly state: ServerState
  /** The webhook responses so far; undefined where there are no webhooks. */
  readonly webhookResponses?: WebhookResponses | undefined
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

export interface Plugin {
  readonly name: string
  readonly admit?: (write: Write) => void
  readonly check?: (write: Write) => void
  readonly remove?: (deletion: Deletion) => void
  /** Whether it also handles writes through subresources. */
  readonly subresources?: true
}

/** All plugins on the main endpoint; through a subresource, only those with `subresources`. */
export interface Admission {
  readonly admit: (write: Write) => void
  readonly check: (write: Write) => void
  readonly remove: (deletion: Deletion) => void
}

const chained = <A>(steps: ReadonlyArray<((of: A) => void) | undefined>): ((of: A) => void) => {
  const present = steps.filter((step) => step !== undefined)
  return (of) => {
    for (const step of present) step(of)
  }
}

const phase = (plugins: ReadonlyArray<Plugin>, which: "admit" | "check"): ((write: Write) => void) => {
  const whole = chained(plugins.map((plugin) => plugin[which]))
  const part = chained(plugins.filter(({ subresources }) => subresources === true).map((plugin) => plugin[which]))
  return (write) => (write.target.subresource === "" ? whole(write) : part(write))
}

export const chain = (plugins: ReadonlyArray<Plugin>): Admission => ({
  admit: phase(plugins, "admit"),
  check: phase(plugins, "check"),
  remove: chained(plugins.map((plugin) => plugin.remove))
})

/** Runs both phases for the object of a subresource with a kind of its own: such an object is not stored. */
export const admitSubresource = (write: Write & { readonly as: GroupVersionKind }): void => {
  const { admission } = write.context.state
  admission.admit(write)
  admission.check(write)
}
