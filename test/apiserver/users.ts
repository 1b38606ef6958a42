/**
 * A server with RBAC and requests of several users, by `Impersonate-*` headers or as the user of the transport. Returns complete
 * responses, errors included.
 */
import * as Effect from "effect/Effect"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import type { Options } from "../../src/apiserver/ApiServer.ts"
import type { User } from "../../src/apiserver/Api.ts"
import { rbac, ref, toUser } from "../conformance/roles.ts"

export { rbac, ref, rule, toUser } from "../conformance/roles.ts"

export const master: User = { name: "system:admin", groups: ["system:masters", "system:authenticated"] }

export const person = (name: string, ...groups: Array<string>): User => ({
  name,
  groups: [...groups, "system:authenticated"]
})

export interface Heard {
  readonly status: number
  readonly body: any
}

/** A request as a user; the path may carry a query. */
export const askAs = (
  user: User,
  method: string,
  target: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<Heard, never, ApiServer> =>
  Effect.flatMap(ApiServer, (server) => {
    const { pathname: path, searchParams: query } = new URL(target, "http://inside")
    const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body)
    return Effect.map(server.handle({ method, path, query, headers, body: text, user }), (answer) =>
      answer._tag !== "Answer"
        ? { status: 200, body: answer._tag.toLowerCase() }
        : {
            status: answer.status,
            body: answer.contentType.startsWith("application/json") ? JSON.parse(answer.body) : answer.body
          }
    )
  })

/** A role in the namespace (a ClusterRole where it is empty), and a binding of the same name for a user. */
export const grant = (user: string, namespace: string, name: string, ...rules: ReadonlyArray<object>) => {
  const [roles, bindings] =
    namespace === ""
      ? [`${rbac}/clusterroles`, `${rbac}/clusterrolebindings`]
      : [`${rbac}/namespaces/${namespace}/roles`, `${rbac}/namespaces/${namespace}/rolebindings`]
  const roleRef = ref(namespace === "" ? "ClusterRole" : "Role", name)
  return Effect.andThen(
    askAs(master, "POST", roles, { metadata: { name }, rules }),
    askAs(master, "POST", bindings, { metadata: { name }, roleRef, subjects: [toUser(user)] })
  )
}

export const layer = (options: Options = {}) => ApiServer.layer({ authorization: "RBAC", ...options })
