/** A collector of telemetry: accepts OTLP as JSON on a port of its own and keeps what it receives, until its scope closes. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
}

export interface Collector {
  readonly url: string
  /** All received requests, unchanged. */
  readonly texts: ReadonlyArray<{ readonly path: string; readonly body: string; readonly headers: unknown }>
  readonly spans: () => ReadonlyArray<Span>
  /** Waits until a received request satisfies it. */
  readonly gets: (has: (collector: Collector) => boolean) => Effect.Effect<void>
}

/** `answer`: the status of every response; undefined: it never responds. */
export const start = (answer: () => number | undefined = () => 200): Effect.Effect<Collector, never, Scope.Scope> =>
  Effect.gen(function* () {
    const texts: Array<{ path: string; body: string; headers: unknown }> = []
    const waiting = new Set<() => void>()
    const server = createServer((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (text: string) => (body += text))
      request.on("end", () => {
        texts.push({ path: request.url ?? "", body, headers: request.headers })
        const status = answer()
        if (status !== undefined) response.writeHead(status, { "content-type": "application/json" }).end("{}")
        for (const look of waiting) look()
      })
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () =>
        Effect.promise(() => {
          server.closeAllConnections()
          return new Promise((resolve) => server.close(resolve))
        })
    )
    const collector: Collector = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      texts,
      spans: () => texts.filter(({ path }) => path === "/v1/traces").flatMap(({ body }) => spansOf(JSON.parse(body))),
      gets: (has) =>
        Effect.promise(
          () =>
            new Promise((resolve) => {
              const look = () => {
                if (!has(collector)) return
                waiting.delete(look)
                resolve()
              }
              waiting.add(look)
              look()
            })
        )
    }
    return collector
  })

const spansOf = (data: any): ReadonlyArray<Span> =>
  data.resourceSpans.flatMap(({ scopeSpans }: any) =>
    scopeSpans.flatMap(({ spans }: any) =>
      spans.map((span: any) => ({
        ...span,
        attributes: Object.fromEntries(span.attributes.map(({ key, value }: any) => [key, Object.values(value)[0]]))
      }))
    )
  )
