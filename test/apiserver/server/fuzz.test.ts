import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Agent } from "node:https"
import { connect } from "node:tls"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { runs } from "../../support/runs.ts"
import { answersOf, bearer, call, type Call, type Served, serve } from "./harness.ts"

/** The HTTPS server with the whole embedded API server, and a client connection. */
const fixture = Effect.gen(function* () {
  const api = yield* ApiServer
  const server = yield* serve(api.handle)
  const agent = new Agent({ ca: server.ca, keepAlive: true })
  yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
  return { server, agent }
}).pipe(Effect.provide(Layer.fresh(ApiServer.layer())))

const oneOf = (...texts: ReadonlyArray<string>) => Arbitrary.schema(Schema.Literals(texts))

/** One of the given texts, or a generated text of the same shape. */
const orAny = (texts: ReadonlyArray<string>, shape: (text: string) => string) =>
  Arbitrary.map(Arbitrary.schema(Schema.Union([Schema.Literals(texts), Schema.String])), (text) =>
    texts.includes(text) ? text : shape(text)
  )

const escaped = (text: string): string => encodeURIComponent(Buffer.from(text).toString())

/** Characters that a client library allows in header values. */
const printable = (text: string): string => text.replaceAll(/[^ -~]/g, "?")

const segments = "api apis v1 apps namespaces default pods nodes events a status .. %2e %00 %zz % %ff healthz version"
const words = "__proto__ constructor openapi binding configmaps leases coordination.k8s.io events.k8s.io"
const request = Arbitrary.all({
  method: oneOf("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"),
  path: Arbitrary.array(orAny(["", ...segments.split(" "), ...words.split(" ")], escaped), { maxLength: 7 }),
  query: Arbitrary.array(
    orAny(
      (
        "limit=-1 limit=x continue=%zz continue=eyJ9 resourceVersion=abc resourceVersionMatch=Exact &&=& __proto__=1 " +
        "labelSelector=%28 labelSelector=a+in fieldSelector=x=y=z dryRun=no fieldValidation=? gracePeriodSeconds=x"
      ).split(" "),
      (text) => `labelSelector=${escaped(text)}`
    ),
    { maxLength: 3 }
  ),
  body: orAny(
    [
      "",
      "{",
      "null",
      "[]",
      "1e999",
      "a: [",
      "\u0000",
      '{"metadata":null}',
      '{"metadata":{"name":{}}}',
      '{"__proto__":{"a":1}}',
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":null}}',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":[1]},"data":7}',
      '[{"op":"add","path":"/__proto__/x","value":1}]',
      '[{"op":"move","from":"/metadata","path":"/metadata/name"}]',
      '{"metadata":{"constructor":{"prototype":{"x":1}}}}'
    ],
    (text) => text
  ),
  contentType: oneOf(
    "application/json",
    "application/yaml",
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/vnd.kubernetes.protobuf",
    "text/plain",
    ";;"
  ),
  accept: orAny(
    [
      "*/*",
      "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
      "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
      "application/json;as=Table;v=v9;g=meta.k8s.io",
      "application/json;as=;v=;g=",
      "application/vnd.kubernetes.protobuf",
      "application/yaml",
      ";q=,,;;=",
      "text/html;q=9"
    ],
    printable
  ),
  encoding: orAny(["gzip", "gzip;q=0", "br", "identity;q=0, *;q=0", ";;q"], printable)
})

/** Asserts that an error is a Status and not a 5xx. */
const isProper = (code: number, body: string, what: string): void => {
  assert.isBelow(code, 500, what)
  if (code >= 400 && body !== "") assert.deepInclude(JSON.parse(body), { kind: "Status", code }, what)
}

const requests = Arbitrary.array(request, { maxLength: 10 })

it.live(
  "answers every well-framed request with what it asked for or a Status, and never with a 5xx",
  () =>
    Effect.gen(function* () {
      const { agent, server } = yield* fixture
      let asks = 0
      const property = (batch: ReadonlyArray<typeof request extends Arbitrary.Arbitrary<infer A> ? A : never>) =>
        Effect.as(
          Effect.forEach(
            batch,
            ({ accept, body, contentType, encoding, method, path, query }) =>
              Effect.gen(function* () {
                asks++
                const asked: Call = {
                  method,
                  path: `/${path.join("/")}${query.length === 0 ? "" : `?${query.join("&")}`}`,
                  headers: {
                    accept,
                    "accept-encoding": encoding,
                    "content-type": contentType,
                    "content-length": String(Buffer.byteLength(body))
                  },
                  body,
                  agent
                }
                const reply = yield* call(server, asked)
                isProper(reply.status, reply.text, JSON.stringify(asked))
              }),
            { discard: true }
          ),
          true
        )
      const result = yield* Arbitrary.checkEffect(requests, property, { runs: runs(150) })
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
      assert.strictEqual((yield* call(server, { path: "/readyz" })).text, "ok")
      assert.isUndefined(Object.getOwnPropertyDescriptor(Object.prototype, "x"))
      if (runs(1) > 1) process.stderr.write(`asked ${asks} random requests\n`)
    }),
  runs(20_000)
)

/** Writes the text, closes the sending side, and returns what the server sends before it closes the connection. */
const provoke = (server: Served, text: string): Effect.Effect<string> =>
  Effect.promise(
    () =>
      new Promise((resolve) => {
        const socket = connect({ host: "127.0.0.1", port: server.port, ca: server.ca, servername: "localhost" })
        let received = ""
        socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")))
        socket.once("secureConnect", () => socket.end(text, "latin1"))
        socket.once("error", () => undefined).once("close", () => resolve(received))
      })
  )

const lines = Arbitrary.array(
  orAny(
    [
      "GET /api HTTP/1.1",
      "POST /api/v1/nodes HTTP/1.1",
      "GET / HTTP/1.0",
      "GET /livez HTTP/9.9",
      "host: x",
      bearer.trim(),
      "content-length: 5",
      "content-length: -1",
      "transfer-encoding: chunked",
      "transfer-encoding: gzip",
      "expect: 100-continue",
      "connection: upgrade",
      "upgrade: websocket",
      "5",
      "zz",
      "0",
      ""
    ],
    (text) => text
  ),
  { maxLength: 10 }
)

it.live(
  "survives bytes that are no HTTP, and answers in a Status if it answers",
  () =>
    Effect.gen(function* () {
      const { server } = yield* fixture
      let refused = 0
      const property = (text: ReadonlyArray<string>) =>
        Effect.map(provoke(server, `${text.join("\r\n")}\r\n`), (received) => {
          for (const { body, code } of answersOf(received)) {
            if (code >= 400) refused++
            if (code !== 100) isProper(code, body, JSON.stringify(text))
          }
          return true
        })
      const result = yield* Arbitrary.checkEffect(lines, property, { runs: runs(300) })
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
      assert.isAbove(refused, 0)
      assert.strictEqual((yield* call(server, { path: "/readyz" })).text, "ok")
    }),
  runs(20_000)
)
