/** Sends the cases to a server, and keeps the part of the responses that must be equal on all servers. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Transport } from "../../src/layers/Transport.ts"
import type { Request } from "../../src/layers/Transport.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import * as envtest from "../support/envtest.ts"
import { layer, request } from "./client.ts"
import type { Case } from "./validationCase.ts"

export interface Answer {
  readonly status: number
  readonly reason?: string
  readonly message?: string
  readonly causes?: ReadonlyArray<unknown>
}

type Send = Transport["Service"]

/** The text without values that differ in each run: uids, memory addresses, and the diff that older versions print. */
const settled = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>")
    .replace(/0xc[0-9a-f]+/g, "<address>")
    .replace(/\n\s*core\.[\s\S]*$/, "")
    .replace(/core\.PodTemplateSpec\{.*\}: field/, "core.PodTemplateSpec{}: field")

const settledCause = (cause: unknown): unknown =>
  Object.fromEntries(Object.entries(cause as object).map(([key, value]) => [key, settled(String(value))]))

const namespace = "cases"

const ask = (transport: Send, sent: Request) =>
  transport.send(sent).pipe(
    Effect.map((response): Answer => ({ status: response.status })),
    Effect.catch((error) => {
      const causes = error.details?.causes
      return Effect.succeed<Answer>({
        status: error.status ?? 0,
        reason: error.reason._tag,
        message: settled(error.detail ?? ""),
        ...(causes === undefined ? {} : { causes: causes.map(settledCause) })
      })
    })
  )

/** The answer to the last request of a case. */
const run = Effect.fnUntraced(function* (transport: Send, one: Case, old: boolean) {
  const [root = "", group = "", ...rest] = ((old ? one.old : undefined) ?? one.path).split("/")
  const plural = rest.at(-1) ?? ""
  const prefix = [root, group, ...rest.slice(0, -1)].join("/")
  const path = `/${prefix}/${one.clusterScoped === true ? "" : `namespaces/${namespace}/`}${plural}`
  const made = yield* ask(transport, request("POST", path, one.body))
  if (one.patch === undefined || made.status !== 201) return made
  const { name } = (one.body as { metadata: { name: string } }).metadata
  const contentType = "application/merge-patch+json"
  return yield* ask(transport, request("PATCH", `${path}/${name}`, one.patch, { contentType }))
})

const all = Effect.fnUntraced(function* (transport: Send, cases: ReadonlyArray<Case>, old: boolean) {
  yield* ask(transport, request("POST", "/api/v1/namespaces", { metadata: { name: namespace } }))
  const answers = new Map<string, Answer>()
  for (const one of cases) answers.set(one.name, yield* run(transport, one, old))
  return answers
})

export const embedded = (cases: ReadonlyArray<Case>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const context = yield* Layer.build(layer())
      return yield* all(Context.get(context, Transport), cases, false)
    })
  )

/** A real API server; only versions that still serve the older API versions have been tried. */
export const real = (cases: ReadonlyArray<Case>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const server = yield* envtest.start()
      const transport = yield* HttpTransport.make(server.endpoint)
      return yield* all(transport, cases, true)
    })
  )
