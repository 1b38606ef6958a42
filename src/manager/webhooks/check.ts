/**
 * Whether webhooks can be served together: checks paths, names and versions when the server is created, not at the first call of the API
 * server. Pure. Source: validation of admissionregistration.k8s.io/v1.
 */
import * as Result from "effect/Result"
import { compile } from "../../kube/admissionExpressions.ts"
import * as Resource from "../../kube/Resource.ts"
import * as Webhook from "../../layers/Webhook.ts"

export const check = (webhooks: ReadonlyArray<Webhook.Any>): Result.Result<void, Webhook.InvalidWebhook> => {
  const problem = [
    () => alone(webhooks),
    () => paths(webhooks),
    () => names(webhooks),
    () => conversions(webhooks)
  ].reduce<string | undefined>((found, look) => found ?? look(), undefined)
  return problem === undefined ? Result.void : Result.fail(new Webhook.InvalidWebhook({ message: problem }))
}

/** The name of a webhook in a message. */
const called = (webhook: Webhook.Any): string =>
  webhook._tag === "Converting"
    ? `the conversion of ${Resource.qualifiedName(webhook.resource)}`
    : `the webhook ${JSON.stringify(webhook.name)}`

const path = /^(?:(?:\/[\w-]+)+|\/)$/

const label = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
const name = new RegExp(`^${label}(?:\\.${label}){2,}$`)

const alone = (webhooks: ReadonlyArray<Webhook.Any>): string | undefined => {
  for (const webhook of webhooks) {
    const problem = problemOf(webhook)
    if (problem !== undefined) return `${called(webhook)} ${problem}`
  }
  return undefined
}

const problemOf = (webhook: Webhook.Any): string | undefined => {
  if (!path.test(webhook.path)) {
    return `cannot be served at ${JSON.stringify(webhook.path)}: a path is made of parts like "/validate-me", of letters, digits, "-" and "_"`
  }
  if (webhook._tag === "Converting") return problemOfVersions(webhook)
  const seconds = webhook.options.timeoutSeconds ?? 10
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 30) {
    return `has a timeout of ${seconds} seconds; it must be a whole number from 1 to 30`
  }
  if (webhook.operations.length === 0) return "has no operations, so it would never be asked"
  const condition = problemOfConditions(webhook.options.matchConditions ?? [])
  if (condition !== undefined) return condition
  return name.test(webhook.name) && webhook.name.length <= 253
    ? undefined
    : `needs a DNS name of three parts at least, such as "validate.memcacheds.example.com"`
}

/** Maximum number of match conditions of a webhook. */
const mostConditions = 64

const conditionName = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/

const problemOfConditions = (conditions: ReadonlyArray<Webhook.MatchCondition>): string | undefined => {
  if (conditions.length > mostConditions) {
    return `has ${conditions.length} match conditions; the API server takes ${mostConditions} at most`
  }
  for (const { expression, name: own } of conditions) {
    if (!conditionName.test(own)) {
      return `has a match condition named ${JSON.stringify(own)}; a name is made of letters, digits, "-", "_" and "."`
    }
    const compiled = compile(expression.trim(), { hasParams: false, hasAuthorizer: true }, ["bool"])
    if (Result.isFailure(compiled)) return `has the match condition ${JSON.stringify(own)}: ${compiled.failure}`
  }
  const twice = twiceIn(conditions.map((one) => one.name))
  return twice === undefined ? undefined : `has two match conditions named ${JSON.stringify(twice)}`
}

const problemOfVersions = ({ resource, spokes }: Webhook.Conversion<unknown>): string | undefined => {
  const { declaration, group, kind, version } = resource
  const stranger = spokes.find((spoke) => spoke.group !== group || spoke.kind !== kind)
  if (stranger !== undefined) return `has a spoke of another kind, ${stranger.kind} of ${stranger.group}`
  const versions = [version, ...spokes.map((spoke) => spoke.version)]
  const twice = twiceIn(versions)
  if (twice !== undefined) return `has two spokes, or hub and spoke, for ${twice}`
  const declared = [version, ...(declaration.versions ?? []).map((other) => other.version)]
  const missing = declared.find((one) => !versions.includes(one))
  if (missing !== undefined) return `has no spoke for ${missing}, which the resource declares`
  const unknown = versions.find((one) => !declared.includes(one))
  return unknown === undefined
    ? undefined
    : `has a spoke for ${unknown}, which the resource does not declare in "versions"`
}

/** Two webhooks with the same path are an error, except for conversions, which share one. */
const paths = (webhooks: ReadonlyArray<Webhook.Any>): string | undefined => {
  for (const [index, webhook] of webhooks.entries()) {
    const other = webhooks.slice(0, index).find((one) => one.path === webhook.path)
    if (other !== undefined && (other._tag !== "Converting" || webhook._tag !== "Converting")) {
      return `${called(other)} and ${called(webhook)} are both to be served at ${webhook.path}; give one another path, or put them in order with Webhook.inOrder`
    }
  }
  return undefined
}

const names = (webhooks: ReadonlyArray<Webhook.Any>): string | undefined => {
  const twice = twiceIn(webhooks.flatMap((webhook) => (webhook._tag === "Converting" ? [] : [webhook.name])))
  return twice === undefined ? undefined : `two webhooks are named ${JSON.stringify(twice)}`
}

const conversions = (webhooks: ReadonlyArray<Webhook.Any>): string | undefined => {
  const twice = twiceIn(
    webhooks.flatMap((webhook) => (webhook._tag === "Converting" ? [Resource.qualifiedName(webhook.resource)] : []))
  )
  return twice === undefined ? undefined : `two webhooks convert ${twice}`
}

const twiceIn = (all: ReadonlyArray<string>): string | undefined => all.find((one, index) => all.indexOf(one) !== index)
