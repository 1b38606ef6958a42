/** A console's server whose messages the test writes, and Debian's Chromium to look at the page. */
import { execFileSync } from "node:child_process"
import { accessSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium, type Browser } from "playwright-core"
import type { Message, ObjectView, SearchResult } from "../../../../src/manager/console/protocol.ts"

const root = fileURLToPath(new URL("../../../..", import.meta.url))

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The path of Chromium, or undefined: then the tests of the page skip themselves. */
export const chromiumPath = (process.env["PATH"] ?? "")
  .split(delimiter)
  .flatMap((folder) => ["chromium", "chromium-browser"].map((name) => join(folder, name)))
  .find(isExecutable)

export const launch = (): Promise<Browser> => {
  if (chromiumPath === undefined) throw new Error("chromium is not in PATH")
  // Root has no sandbox of its own.
  return chromium.launch({ executablePath: chromiumPath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] })
}

/** As the program sends it. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"

const types: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" }

export const token = "s3cret-token"

export interface FakeConsole {
  /** With the token. */
  readonly url: string
  readonly address: string
  /** Sent at once to each stream that is opened. */
  first: ReadonlyArray<Message>
  /** By their path below `/console/api/objects/`. */
  readonly objects: Map<string, ObjectView>
  found: SearchResult["found"]
  /** Streams are refused with this status. */
  refuses: number | undefined
  readonly requests: Array<string>
  readonly openStreams: () => number
  readonly send: (...messages: ReadonlyArray<Message>) => void
  readonly endStreams: () => void
  readonly stop: () => Promise<void>
}

const buildPage = (): ReadonlyMap<string, Buffer> => {
  const folder = mkdtempSync(join(tmpdir(), "console-page-"))
  try {
    const script = "const { buildPage } = await import('./scripts/page.mjs'); await buildPage(process.argv[1])"
    execFileSync(process.execPath, ["--input-type=module", "-e", script, folder], { cwd: root })
    return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const startFakeConsole = async (): Promise<FakeConsole> => {
  const files = buildPage()
  const streams = new Set<ServerResponse>()
  const json = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  const lines = (messages: ReadonlyArray<Message>) => messages.map((message) => `${JSON.stringify(message)}\n`).join("")
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost")
    fake.requests.push(`${request.method} ${request.url}`)
    response.setHeader("content-security-policy", policy)
    const path = /^\/console\/(.*)$/.exec(url.pathname)?.[1]
    if (path === undefined) return json(response, 404, { message: "not found" })
    if (!path.startsWith("api/")) {
      const name = path === "" ? "index.html" : path
      const file = files.get(name)
      if (file === undefined) return json(response, 404, { message: "not found" })
      return response.writeHead(200, { "content-type": types[extname(name)] ?? "" }).end(file)
    }
    if (request.headers.authorization !== `Bearer ${token}`)
      return json(response, 401, { message: "the token is wrong" })
    if (path === "api/stream") {
      if (fake.refuses !== undefined) return json(response, fake.refuses, { message: "refused by the test" })
      response.writeHead(200, { "content-type": "application/x-ndjson" })
      response.write(`\n${lines(fake.first)}`)
      streams.add(response)
      return response.on("close", () => streams.delete(response))
    }
    if (path === "api/search") return json(response, 200, { found: fake.found })
    const object = fake.objects.get(path.slice("api/objects/".length))
    return object === undefined ? json(response, 404, { message: "no such object" }) : json(response, 200, object)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/console/`
  const fake: FakeConsole = {
    url: `${address}#token=${token}`,
    address,
    first: [],
    objects: new Map(),
    found: [],
    refuses: undefined,
    requests: [],
    openStreams: () => streams.size,
    send: (...messages) => {
      for (const stream of streams) stream.write(lines(messages))
    },
    endStreams: () => {
      for (const stream of streams) stream.destroy()
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return fake
}
