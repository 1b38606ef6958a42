/** Roles and bindings of cases, and waiting for a server that reads them from a cache. */
import * as Effect from "effect/Effect"
import { done } from "./assertions.ts"
import type { Ask } from "./Case.ts"

export const group = "rbac.authorization.k8s.io"
export const rbac = `/apis/${group}/v1`

export const ref = (kind: "Role" | "ClusterRole", name: string) => ({ apiGroup: group, kind, name })

export const toUser = (name: string) => ({ kind: "User", apiGroup: group, name })

export const rule = (apiGroup: string, resources: string, verbs: string, ...resourceNames: ReadonlyArray<string>) => ({
  apiGroups: [apiGroup],
  resources: resources.split(" "),
  verbs: verbs.split(" "),
  ...(resourceNames.length === 0 ? {} : { resourceNames })
})

/** Repeats a request until the response is as expected, since the cache of a server may be behind. The limit of the case ends it. */
export const eventually = <A>(ask: Effect.Effect<A>, isExpected: (answer: A) => boolean): Effect.Effect<A> =>
  Effect.gen(function* () {
    while (true) {
      const answer = yield* ask
      if (isExpected(answer)) return answer
      yield* Effect.sleep("20 millis")
    }
  })

export interface Wish {
  readonly verb: string
  readonly group?: string
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
}

const access = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

/** A SubjectAccessReview of another user. */
export const review = (ask: Ask, user: string, wish: Wish) =>
  Effect.map(ask("POST", access, { spec: { user, resourceAttributes: wish } }), (reply) => done(reply, 201).status)

/**
 * A role in a namespace (without one, a ClusterRole) and a binding for a user, both with this name. Returns when the server applies
 * them, which a request for the last resource rule shows.
 */
export const grant = Effect.fnUntraced(function* (
  ask: Ask,
  to: { readonly user: string; readonly namespace: string; readonly name: string },
  ...rules: ReadonlyArray<ReturnType<typeof rule>>
) {
  const { name, namespace, user } = to
  const where = namespace === "" ? rbac : `${rbac}/namespaces/${namespace}`
  const [roles, kind] = namespace === "" ? (["clusterroles", "ClusterRole"] as const) : (["roles", "Role"] as const)
  const bindings = namespace === "" ? "clusterrolebindings" : "rolebindings"
  done(yield* ask("POST", `${where}/${roles}`, { metadata: { name }, rules }), 201)
  const binding = { metadata: { name }, roleRef: ref(kind, name), subjects: [toUser(user)] }
  done(yield* ask("POST", `${where}/${bindings}`, binding), 201)
  const last = rules.at(-1)
  if (last === undefined) return
  const [resource = "", subresource = ""] = (last.resources[0] ?? "").split("/")
  const wish: Wish = {
    verb: last.verbs[0] ?? "",
    group: last.apiGroups[0] ?? "",
    resource,
    subresource,
    namespace,
    name: last.resourceNames?.[0] ?? ""
  }
  yield* eventually(review(ask, user, wish), ({ allowed }) => allowed)
})
