/**
 * Impersonation: the `Impersonate-*` headers name a user, groups, a uid and extra attributes, each of which the caller must be
 * authorized to impersonate. Source: apiserver/pkg/endpoints/filters/impersonation: WithImpersonation.
 */
import type { ApiRequest, User } from "../Api.ts"
import * as Authorizer from "../authorization/Authorizer.ts"
import type { Attributes } from "../authorization/rule.ts"
import * as StatusError from "../StatusError.ts"
import type { RequestContext } from "../RequestContext.ts"
import * as serviceAccounts from "./serviceAccounts.ts"

const prefix = "impersonate-"
const extraPrefix = "impersonate-extra-"

/** The context with the impersonated user; unchanged without impersonation. */
export const resolve = <A extends RequestContext>(context: A): A | StatusError.StatusError => {
  const { headers } = context.request
  const name = headers["impersonate-user"] ?? ""
  if (name === "") {
    const orphan = Object.keys(headers).find((header) => header.startsWith(prefix))
    if (orphan === undefined) return context
    return StatusError.internal(`requested ${JSON.stringify(orphan)} without impersonating a user`)
  }
  const given = values(headers["impersonate-group"])
  const uid = headers["impersonate-uid"]
  const extra = extraOf(headers)
  const account = serviceAccounts.parse(name)
  const needed: ReadonlyArray<Partial<Attributes>> = [
    account === undefined ? { resource: "users", name } : { resource: "serviceaccounts", ...account },
    ...given.map((group) => ({ resource: "groups", name: group })),
    ...(uid === undefined ? [] : [{ group: "authentication.k8s.io", resource: "uids", name: uid }]),
    ...Object.entries(extra).flatMap(([key, all]) =>
      all.map((one) => ({ group: "authentication.k8s.io", resource: "userextras", subresource: key, name: one }))
    )
  ]
  for (const wanted of needed) {
    const refusal = refuse(context, wanted)
    if (refusal !== undefined) return refusal
  }
  const groups = given.length > 0 ? withAuthenticated(name, given) : defaultGroups(name, account)
  const user: User = {
    name,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra })
  }
  return { ...context, request: { ...context.request, user } }
}

/** The transport has joined repeated headers. */
const values = (header: string | undefined): ReadonlyArray<string> =>
  (header ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")

const extraOf = (headers: ApiRequest["headers"]): Record<string, ReadonlyArray<string>> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([header]) => header.startsWith(extraPrefix))
      .map(([header, value]) => [header.slice(extraPrefix.length), values(value)])
  )

const anonymous = "system:anonymous"
const authenticated = "system:authenticated"
const unauthenticated = "system:unauthenticated"

const withAuthenticated = (name: string, groups: ReadonlyArray<string>): ReadonlyArray<string> =>
  name === anonymous || groups.includes(authenticated) || groups.includes(unauthenticated)
    ? groups
    : [...groups, authenticated]

const defaultGroups = (name: string, account: serviceAccounts.Account | undefined): ReadonlyArray<string> =>
  account !== undefined
    ? serviceAccounts.groupsOf(account.namespace)
    : [name === anonymous ? unauthenticated : authenticated]

const refuse = (context: RequestContext, wanted: Partial<Attributes>): StatusError.StatusError | undefined =>
  Authorizer.refuse(context, {
    verb: "impersonate",
    path: "",
    isResource: true,
    group: "",
    resource: "",
    subresource: "",
    namespace: "",
    name: "",
    ...wanted
  })
