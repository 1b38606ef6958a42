/**
 * What stands between a well-formed request and the store: plugins that complete an object (`admit`) before it is validated,
 * refuse it (`check`) afterwards, or refuse a deletion. They run in the order of the list, in the request's synchronous
 * section. Policy belongs here, the rules of kinds in `rules/`; what is asked outside of the process is `webhooks/`.
 */
import type { JsonObject } from "../json.ts"
import type { Target } from "../routing.ts"
import type { DeleteOptions } from "../validation/lifecycle.ts"
import type { Kind } from "../scheme/Kind.ts"
import type { RequestContext, State } from "../RequestContext.ts"
import type { Authenticator } from "../authentication/Authenticator.ts"
import type { WebhookResponses } from "../webhook/WebhookResponses.ts"
import type { WebhookCaller } from "../webhook/WebhookCaller.ts"

/** What the endpoints use beside the state that is stored. */
export interface ServerState extends State {
  readonly admission: Admission
  readonly authenticator: Authenticator
  /** For the conversions of a watch, which begin after the request was answered. */
  readonly caller: WebhookCaller
}

/** The context of a request at the endpoints and in admission; endpoints/handlers `RequestScope` is its model. */
export interface RequestScope extends RequestContext {
  readonly state: ServerState
  /** The answers of webhooks so far; undefined where there are no webhooks. */
  readonly webhookResponses?: WebhookResponses | undefined
}

/** One write of an object, on its main endpoint unless the target has a subresource. */
export interface Write {
  readonly context: RequestScope
  readonly target: Target
  /** The new state; `admit` may change it in place, `check` may not. */
  readonly object: JsonObject
  /** Undefined when the object is created. */
  readonly before: JsonObject | undefined
  readonly dryRun: boolean
  /** What the object is, where a subresource takes a kind of its own. */
  readonly as?: GroupVersionKind | undefined
}

/** The kind of an object that is not of its target's. */
export type GroupVersionKind = Pick<Kind, "group" | "version" | "kind">

/** One deletion of an object, whether it goes at once or is only marked. */
export interface Deletion {
  readonly context: RequestScope
  /** Without a name where a whole collection is deleted. */
  readonly target: Target
  readonly name: string
  /** What is to be deleted; nobody may change it. */
  readonly before: JsonObject
  readonly options: DeleteOptions
}

export interface Plugin {
  readonly name: string
  readonly admit?: (write: Write) => void
  readonly check?: (write: Write) => void
  readonly remove?: (deletion: Deletion) => void
  /** Whether it is asked about writes through subresources too. */
  readonly parts?: true
}

/** Every plugin on the main endpoint; through a subresource, those that care for parts. */
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
  const part = chained(plugins.filter(({ parts }) => parts === true).map((plugin) => plugin[which]))
  return (write) => (write.target.subresource === "" ? whole(write) : part(write))
}

export const chain = (plugins: ReadonlyArray<Plugin>): Admission => ({
  admit: phase(plugins, "admit"),
  check: phase(plugins, "check"),
  remove: chained(plugins.map((plugin) => plugin.remove))
})

/** Asks about what a subresource with a kind of its own was sent, both phases at once: such an object is nowhere stored. */
export const ask = (write: Write & { readonly as: GroupVersionKind }): void => {
  const { admission } = write.context.state
  admission.admit(write)
  admission.check(write)
}
