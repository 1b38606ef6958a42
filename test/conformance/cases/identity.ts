/** Authentication: service account tokens, TokenReviews, impersonation. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { ApiError } from "../../../src/kube/ApiError.ts"
import { done, refused } from "../assertions.ts"
import type { Ask, Case, Subject } from "../Case.ts"
import { at } from "../objects.ts"
import { grant, rule } from "../roles.ts"

const same = assert.deepStrictEqual
const tokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews"

const createAccount = (ask: Ask, namespace: string) =>
  Effect.map(ask("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: "robot" } }), (reply) =>
    done(reply, 201)
  )

/** A token of the account, by a TokenRequest. */
const requestToken = (ask: Ask, namespace: string, spec: object = {}) =>
  Effect.map(
    ask("POST", `/api/v1/namespaces/${namespace}/serviceaccounts/robot/token`, { spec }),
    (reply): string => done(reply, 201).status.token
  )

const tokenOfNewAccount = (ask: Ask, namespace: string) =>
  Effect.andThen(createAccount(ask, namespace), requestToken(ask, namespace))

/** The reason why a token may not list pods; undefined when it may. */
const refusal = (as: Subject["as"], token: string, namespace: string) =>
  Effect.gen(function* () {
    const path = at(namespace).pods
    const send = (yield* as(token)).send({ method: "GET", path, context: { verb: "list", path } })
    return yield* Effect.match(send, { onSuccess: () => undefined, onFailure: (error: ApiError) => error })
  })

export const identity: ReadonlyArray<Case> = [
  {
    title: "a service account token authenticates the account, with its permissions",
    since: 20,
    needs: "credentials",
    run: Effect.fnUntraced(function* ({ as, ask, namespace }) {
      const token = yield* tokenOfNewAccount(ask, namespace)
      const user = `system:serviceaccount:${namespace}:robot`
      const error = yield* refusal(as, token, namespace)
      same(
        [error?.status, error?.detail],
        [
          403,
          `pods is forbidden: User "${user}" cannot list resource "pods" in API group "" in the namespace "${namespace}"`
        ]
      )
      yield* grant(ask, { user, namespace, name: "r" }, rule("", "pods", "list"))
      assert.isUndefined(yield* refusal(as, token, namespace))
    })
  },
  {
    title: "a modified token, or one for another audience, is invalid",
    since: 20,
    needs: "credentials",
    run: Effect.fnUntraced(function* ({ as, ask, namespace }) {
      const token = yield* tokenOfNewAccount(ask, namespace)
      const changed = token.at(-10) === "A" ? "B" : "A"
      const tampered = `${token.slice(0, -10)}${changed}${token.slice(-9)}`
      const foreign = yield* requestToken(ask, namespace, { audiences: ["vault"] })
      for (const bad of [tampered, foreign, token.slice(0, token.lastIndexOf(".") + 1)]) {
        const error = yield* refusal(as, bad, namespace)
        same([error?.status, error?.detail], [401, "Unauthorized"])
      }
    })
  },
  {
    title: "a token is invalid after its account is deleted",
    since: 20,
    needs: "credentials",
    run: Effect.fnUntraced(function* ({ as, ask, namespace }) {
      const token = yield* tokenOfNewAccount(ask, namespace)
      done(yield* ask("DELETE", `/api/v1/namespaces/${namespace}/serviceaccounts/robot`))
      same((yield* refusal(as, token, namespace))?.status, 401)
    })
  },
  {
    title: "a TokenReview returns the user, for the requested audience",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { metadata } = yield* createAccount(ask, namespace)
      const issuer = "https://kubernetes.default.svc"
      const review = (token: string, audiences?: ReadonlyArray<string>) =>
        Effect.map(ask("POST", tokenReviews, { spec: { token, audiences } }), (reply) => done(reply, 201).status)
      const own = yield* requestToken(ask, namespace)
      const known = {
        username: `system:serviceaccount:${namespace}:robot`,
        uid: metadata.uid,
        groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"]
      }
      const { extra: _, ...user } = (yield* review(own)).user
      same(user, known)
      same((yield* review(own)).audiences, [issuer])
      const foreign = yield* requestToken(ask, namespace, { audiences: ["vault", "other"] })
      const answer = yield* review(foreign, ["other", "third"])
      same([answer.authenticated, answer.audiences], [true, ["other"]])
      same(yield* review(foreign, ["third"]), {
        user: {},
        error: '[invalid bearer token, token audiences ["vault" "other"] is invalid for the target audiences ["third"]]'
      })
      same(yield* review("none"), { user: {}, error: "invalid bearer token" })
    })
  },
  {
    title: "an impersonated user is in the given groups, and in system:authenticated",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const list = (user: string, group?: string) =>
        ask("GET", at(namespace).pods, undefined, { as: group === undefined ? { user } : { user, group } })
      refused(yield* list("system:anonymous"), {
        code: 403,
        reason: "Forbidden",
        message: /^pods is forbidden: User "system:anonymous" cannot list/
      })
      done(yield* list("amy", "system:masters"), 200)
      same((yield* ask("GET", "/api", undefined, { as: { user: "amy", group: "team" } })).status, 200)
      same((yield* ask("GET", "/api", undefined, { as: { user: "system:anonymous" } })).status, 403)
    })
  }
]
