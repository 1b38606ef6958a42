/**
 * The plugins that ask webhooks: mutating ones one after another, each about what the one before has made of the object, validating
 * ones all together about what is going to be stored. No answer of a mutating webhook leads to another round (`reinvocationPolicy` is
 * kept and not followed); of conditions in CEL see `conditions.ts`. Source: the webhook plugins of the reference
 * server, and their words.
 */
import * as Result from "effect/Result"
import { objectAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type * as Status from "../../kube/Status.ts"
import * as StatusError from "../StatusError.ts"
import type { Target } from "../routing.ts"
import type { RequestScope } from "../admission/Admission.ts"
import type { Form, Plugin, Removal, Write } from "../admission/Admission.ts"
import * as stored from "../admission/stored.ts"
import * as conditions from "./conditions.ts"
import { Unanswered } from "./WebhookResponses.ts"
import type { Outcome, Question } from "./WebhookResponses.ts"
import * as Hooks from "./configuration.ts"
import { isNamespace, match } from "./matching.ts"
import type { Operation, Subject } from "./matching.ts"
import * as forms from "./versionedObject.ts"
import * as options from "./options.ts"
import * as review from "./review.ts"

/** What a webhook may be asked about, writes and deletions alike. */
interface Deed extends Subject {
  readonly context: RequestScope
  readonly as: Form | undefined
  readonly target: Target
  readonly operation: Operation
  readonly name: string
  /** In stored form. */
  readonly object: JsonObject | undefined
  readonly before: JsonObject | undefined
  readonly dryRun: boolean
  readonly options: JsonObject
}

export const plugins = (hooks: Hooks.Hooks): ReadonlyArray<Plugin> => [
  conditions.plugin,
  {
    name: "MutatingAdmissionWebhook",
    parts: true,
    admit: (write) => {
      if (!concerns(hooks, write.target, write.as)) return
      for (const hook of hooks.of("mutating")) mutate(hook, write)
    }
  },
  {
    name: "ValidatingAdmissionWebhook",
    parts: true,
    check: (write) => {
      if (concerns(hooks, write.target, write.as)) validate(hooks.of("validating"), deedOf(write))
    },
    remove: (removal) => {
      if (!concerns(hooks, removal.target)) return
      const { before, context } = removal
      const key = `${textAt(before, "metadata", "uid")} ${textAt(before, "metadata", "resourceVersion")}`
      const said = context.consultation?.passed.get(key)
      if (said !== undefined) context.warnings.push(...said)
      else {
        const start = context.warnings.length
        judgeRemoval(hooks, deedOfRemoval(removal))
        context.consultation?.passed.set(key, context.warnings.slice(start))
      }
    }
  }
]

/** Of a scale webhooks are asked before it is written into the object. */
const concerns = (hooks: Hooks.Hooks, { kind, subresource }: Target, as?: Form): boolean =>
  hooks.exist() && !Hooks.isExempt(kind) && (subresource !== "scale" || as !== undefined)

const judgeRemoval = (hooks: Hooks.Hooks, deed: Deed): void => {
  for (const hook of hooks.of("mutating")) {
    const verdict = verdictOf(hook, deed, "mutating")
    if (verdict?.patch !== undefined) throw unmodifiable(hook)
  }
  validate(hooks.of("validating"), deed)
}

const unmodifiable = ({ name }: Hooks.Hook): StatusError.StatusError =>
  StatusError.internal(
    `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`
  )

const deedOf = (write: Write, object: JsonObject = write.object): Deed => {
  const { as, before, dryRun, target, context } = write
  return {
    context,
    as,
    target,
    kinds: context.state.kinds.all,
    operation: before === undefined ? "CREATE" : "UPDATE",
    name: target.name || textAt(object, "metadata", "name"),
    object,
    before,
    dryRun,
    options: options.ofWrite(context, before === undefined),
    namespaceLabels: () => (isNamespace(target.kind) ? labelsOf(object) : namespaceLabels(context, target.namespace)),
    objectLabels: before === undefined ? [labelsOf(object)] : [labelsOf(object), labelsOf(before)]
  }
}

const deedOfRemoval = ({ before, name, options: given, target, context }: Removal): Deed => ({
  context,
  as: undefined,
  target,
  kinds: context.state.kinds.all,
  operation: "DELETE",
  name: target.name,
  object: undefined,
  before,
  dryRun: given.dryRun,
  options: options.ofDeletion(given),
  namespaceLabels: () => namespaceLabels(context, isNamespace(target.kind) ? name : target.namespace),
  objectLabels: [labelsOf(before)]
})

const labelsOf = (object: JsonObject): Record<string, string> | undefined =>
  objectAt(object, "metadata", "labels") as Record<string, string> | undefined

const namespaceLabels = (context: RequestScope, namespace: string): Record<string, string> | undefined => {
  const found = stored.object(context, "namespaces", "", namespace)
  return found === undefined ? undefined : labelsOf(found)
}

/** What a webhook says; undefined when it is not to be asked, or its failure is to be ignored. */
const verdictOf = (hook: Hooks.Hook, deed: Deed, phase: Hooks.Phase): review.Verdict | undefined => {
  const question = questionOf(hook, deed)
  if (question === undefined) return undefined
  const outcome = outcomeOf(deed, question)
  if (outcome === undefined) throw new Unanswered([question])
  return judged(hook, deed.context, outcome, phase)
}

const questionOf = (hook: Hooks.Hook, deed: Deed): Question | undefined => {
  const kind = match(hook, deed)
  if (kind === undefined) return undefined
  const { as, before, object, operation, target, context } = deed
  const form = (one: JsonObject | undefined) =>
    as === undefined ? forms.served(context, target, kind, one) : forms.plain(as, one)
  const told = { ...deed, kind, object: form(object), oldObject: form(before) }
  const about = `${operation} ${target.namespace}/${textAt(before, "metadata", "name")}`
  return { hook, about, request: review.requestText(told) }
}

const outcomeOf = ({ before, target, context }: Deed, question: Question): Outcome | undefined => {
  const { consultation } = context
  const outcome = consultation?.outcomeOf(question)
  if (outcome === undefined && consultation?.mayAsk(question) === false) {
    throw StatusError.modified(target.kind, textAt(before, "metadata", "name"))
  }
  return outcome
}

const judged = (
  hook: Hooks.Hook,
  context: RequestScope,
  outcome: Outcome,
  phase: Hooks.Phase
): review.Verdict | undefined => {
  const verdict = review.read(outcome, phase)
  if (Result.isFailure(verdict)) {
    if (hook.ignoresFailure) return undefined
    throw StatusError.internal(`failed calling webhook ${JSON.stringify(hook.name)}: ${verdict.failure}`)
  }
  const { allowed, status, warnings } = verdict.success
  for (const warning of warnings) warn(context.warnings, warning)
  if (!allowed)
    throw new StatusError.StatusError({ status: review.denial(hook.name, status) as unknown as Status.Status })
  return verdict.success
}

/** Characters of all warnings together, and of one where they would be more. Source: the warning recorder of the reference server. */
const [allWarnings, longWarning] = [4096, 256] as const

/** Each once; what would be too much is cut short, and then left out. */
const warn = (told: Array<string>, warning: string): void => {
  if (warning === "" || told.includes(warning)) return
  const length = told.reduce((sum, one) => sum + one.length, 0)
  const text = length + warning.length > allWarnings ? warning.slice(0, longWarning) : warning
  if (length + text.length <= allWarnings) told.push(text)
}

/** All are asked before anyone is heard, and heard in order. */
const validate = (hooks: ReadonlyArray<Hooks.Hook>, deed: Deed): void => {
  const asked = hooks.flatMap((hook) => {
    const question = questionOf(hook, deed)
    return question === undefined ? [] : [{ question, outcome: outcomeOf(deed, question) }]
  })
  const open = asked.filter(({ outcome }) => outcome === undefined)
  if (open.length > 0) throw new Unanswered(open.map(({ question }) => question))
  for (const { outcome, question } of asked) {
    if (outcome !== undefined) judged(question.hook, deed.context, outcome, "validating")
  }
}

const mutate = (hook: Hooks.Hook, write: Write): void => {
  const { as, object, target, context } = write
  const shown = write.before === undefined && as === undefined ? forms.unborn(target, object) : object
  const deed = deedOf(write, shown)
  const patch = verdictOf(hook, deed, "mutating")?.patch
  if (patch === undefined) return
  if (as !== undefined) {
    const next = forms.same(forms.plain(as, object), patch)
    if (next !== undefined) forms.replace(object, next)
    return
  }
  const kind = match(hook, deed) ?? target.kind
  const next = forms.stored(write, kind, forms.served(context, target, kind, shown), patch)
  if (next !== undefined) forms.settle(write, next)
}
