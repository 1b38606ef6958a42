/** Texts from files, from standard input and from addresses, and the bounds of each. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { limit, read } from "../../../src/cli/types/source.ts"
import type { Host } from "../../../src/manager/process/Host.ts"
import * as Process from "../../support/process.ts"

const host = {} as Host
const secure = { allowHttp: false }

const failure = (source: string, from: Host = host) =>
  Effect.map(Effect.flip(read(from, source, secure)), ({ message }) => message)

/** The origin of a server on this machine. */
const serving = (listener: RequestListener) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const server = createServer(listener)
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => void (server.closeAllConnections(), server.close()))
    ),
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  )

describe("a source", () => {
  it.live("is a file", () =>
    Effect.gen(function* () {
      const folder = yield* Process.folder
      const path = join(folder, "a.yaml")
      writeFileSync(path, "kind: Ä")
      assert.strictEqual(yield* read(host, path, secure), "kind: Ä")
      assert.match(yield* failure(join(folder, "none.yaml")), /none\.yaml: ENOENT/)
      writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00]))
      assert.match(yield* failure(path), /not a text in UTF-8/)
      writeFileSync(path, Buffer.alloc(limit + 1))
      assert.match(yield* failure(path), /larger than 32 MiB/)
      assert.match(yield* failure(folder), /EISDIR/)
    })
  )

  it.live("is standard input", () =>
    Effect.gen(function* () {
      const input = async function* (chunks: number) {
        for (let index = 0; index < chunks; index += 1) yield Buffer.alloc(1024 * 1024, "a")
      }
      const text = yield* read({ ...host, stdin: input(2) }, "-", secure)
      assert.strictEqual(text.length, 2 * 1024 * 1024)
      assert.match(yield* failure("-", { ...host, stdin: input(40) }), /larger than 32 MiB/)
      assert.match(yield* failure("-"), /the program has none/)
    })
  )

  it.live("is an address, redirected a bounded number of times", () =>
    Effect.gen(function* () {
      const origin = yield* serving(({ url = "" }, response) => {
        const times = Number(/^\/redirect\/(\d+)/.exec(url)?.[1] ?? 0)
        if (times > 0) response.writeHead(302, { location: `/redirect/${times - 1}` }).end()
        else if (url === "/loop") response.writeHead(301, { location: "/loop" }).end()
        else if (url === "/away") response.writeHead(307, { location: "http://example.invalid/" }).end()
        else if (url === "/file") response.writeHead(307, { location: "file:///etc/hostname" }).end()
        else if (url === "/large") response.end(Buffer.alloc(limit + 1))
        else if (url === "/none") response.writeHead(404).end()
        else response.end("kind: Pod")
      })
      assert.strictEqual(yield* read(host, `${origin}/redirect/5`, secure), "kind: Pod")
      assert.match(yield* failure(`${origin}/redirect/6`), /more than 5 redirects/)
      assert.match(yield* failure(`${origin}/loop`), /more than 5 redirects/)
      assert.match(yield* failure(`${origin}/away`), /example\.invalid.*to which http:.*--allow-http/)
      assert.match(yield* failure(`${origin}/file`), /not an address of HTTPS/)
      assert.match(yield* failure(`${origin}/large`), /larger than 32 MiB/)
      assert.match(yield* failure(`${origin}/none`), /status 404/)
    }).pipe(Effect.scoped)
  )

  it.effect("of another machine is not read over HTTP, and never with a password in the address", () =>
    Effect.gen(function* () {
      assert.match(yield* failure("http://example.invalid/crds.yaml"), /--allow-http/)
      assert.match(
        yield* failure("https://user:secret@example.invalid/crds.yaml"),
        /an address with a password is not accepted/
      )
      assert.match(yield* failure("ftp://example.invalid/crds.yaml"), /not an address of HTTPS/)
    })
  )
})
