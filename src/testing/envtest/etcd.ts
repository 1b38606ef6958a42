/** What a test reads from etcd and does to its history, through etcd's JSON gateway. A failure is one sentence. */
import * as Effect from "effect/Effect"
import { request } from "node:http"

const call = <A>(url: string, path: string, body: object): Effect.Effect<A, string> =>
  Effect.tryPromise({
    try: () => post(`${url}/v3/kv/${path}`, JSON.stringify(body)),
    catch: (cause) => `etcd did not answer: ${String(cause)}`
  }).pipe(
    Effect.flatMap(({ status, text }) =>
      status === 200 ? Effect.succeed(JSON.parse(text) as A) : Effect.fail(`etcd answered ${status}: ${text}`)
    )
  )

const post = (url: string, body: string): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent: false }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (part: string) => (text += part))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
      response.on("error", reject)
    })
    sent.on("error", reject)
    sent.end(body)
  })

/** Any read returns the present revision. */
export const compact = Effect.fnUntraced(function* (url: string) {
  const { header } = yield* call<{ header: { revision: string } }>(url, "range", { key: base64("none") })
  yield* call(url, "compaction", { revision: header.revision, physical: true })
})

/** The values of all keys with that prefix. */
export const stored = Effect.fnUntraced(function* (url: string, prefix: string) {
  const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
  const range = { key: base64(prefix), range_end: base64(end) }
  const { kvs = [] } = yield* call<{ kvs?: ReadonlyArray<{ value: string }> }>(url, "range", range)
  return kvs.map(({ value }) => Buffer.from(value, "base64").toString())
})

const base64 = (text: string): string => Buffer.from(text).toString("base64")
