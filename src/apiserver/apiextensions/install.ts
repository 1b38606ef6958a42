/** Creates CustomResourceDefinitions when the server starts, as system:apiserver, before it accepts requests. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Api, ApiRequest } from "../Api.ts"
import { isObject, textAt } from "../json.ts"

/** The server rejected a definition; the message has its name and the reason. */
export class DefinitionRefused extends Data.TaggedError("DefinitionRefused")<{ readonly message: string }> {}

const request: Omit<ApiRequest, "body"> = {
  method: "POST",
  path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  query: new URLSearchParams(),
  headers: { "content-type": "application/json", "user-agent": "kube-apiserver" },
  user: { name: "system:apiserver", groups: ["system:masters"] }
}

/** Creates the definitions in order; when it completes, all are served. */
export const install = (
  api: Pick<Api, "handle">,
  definitions: ReadonlyArray<object>
): Effect.Effect<void, DefinitionRefused> =>
  Effect.forEach(definitions, (definition) => installOne(api, definition), { discard: true })

const installOne = (api: Pick<Api, "handle">, definition: object): Effect.Effect<void, DefinitionRefused> =>
  Effect.flatMap(api.handle({ ...request, body: JSON.stringify(definition) }), (answer) => {
    if (answer._tag === "Answer" && answer.status === 201) return Effect.void
    const named = isObject(definition) ? textAt(definition, "metadata", "name") : ""
    const status: unknown = answer._tag === "Answer" ? JSON.parse(answer.body) : {}
    const why = isObject(status) ? textAt(status, "message") : ""
    return Effect.fail(new DefinitionRefused({ message: `the definition ${JSON.stringify(named)} is refused: ${why}` }))
  })
