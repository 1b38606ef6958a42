/** Lets a request through or refuses it with 403, in the reference server's words, which clients match on. */
import type { User } from "../Api.ts"
import * as StatusError from "../StatusError.ts"
import type { RequestContext } from "../RequestContext.ts"
import type { Attributes } from "./rule.ts"

export const check = ({ request, state }: Pick<RequestContext, "request" | "state">, wanted: Attributes): void => {
  if (state.authorizer.mode === "AlwaysAllow") return
  const { allowed, reason } = state.authorizer.decide(request.user, wanted)
  if (!allowed) throw refusal(request.user, wanted, reason)
}

export const refusal = (user: User, wanted: Attributes, reason: string): StatusError.StatusError => {
  const why = `User ${JSON.stringify(user.name)} cannot ${wanted.verb} ${objectOf(wanted)}${reason === "" ? "" : `: ${reason}`}`
  return wanted.isResource
    ? StatusError.forbidden({ group: wanted.group, plural: wanted.resource }, wanted.name, why)
    : StatusError.forbiddenPath(why)
}

const objectOf = ({ group, isResource, namespace, path, resource, subresource }: Attributes): string => {
  if (!isResource) return `path ${JSON.stringify(path)}`
  const whole = subresource === "" ? resource : `${resource}/${subresource}`
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`
  return `resource ${JSON.stringify(whole)} in API group ${JSON.stringify(group)} ${where}`
}
