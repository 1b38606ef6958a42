/**
 * `explain`: what a running program has done to one object and why, from the program's console. It prints the timeline once, or goes on with what is
 * new. A run is printed when it has ended.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { readFile } from "node:fs/promises"
import type { Agent } from "undici"
import { isLoopback } from "../../layers/http/address.ts"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import type { Entry } from "../../layers/timeline/entries.ts"
import type { ObjectView } from "../../manager/console/protocol.ts"
import type { Host } from "../../manager/process/Host.ts"
import * as Flags from "../../manager/setting/flags.ts"
import * as Sources from "../../manager/setting/sources.ts"
import * as Output from "../../manager/settings/output.ts"
import * as Report from "../output/Report.ts"
import type { Column } from "../output/table.ts"

/** The console did not respond, or refused; the message says what to do. */
export class ExplainFailed extends Data.TaggedError("ExplainFailed")<{ readonly message: string }> {}

export const settings = {
  console: Setting.optional(Codecs.text("address"), {
    name: "console",
    group: "command",
    description:
      "Address of the console of the running program, as it prints it at its start, with the token on loopback"
  }),
  consoleToken: Setting.optional(Codecs.redacted("token"), {
    name: "console-token",
    group: "command",
    description: "Token for a console that is served over HTTPS, of a user who may get /console"
  }),
  consoleCa: Setting.optional(Codecs.text("file"), {
    name: "console-ca",
    env: false,
    group: "command",
    description: "File with the authorities of the certificate of such a console; default are those of the system"
  }),
  // Not `namespace`, which is another name of `watch-namespaces`.
  namespace: Setting.make(Codecs.text("name"), {
    name: "object-namespace",
    aliases: ["n"],
    env: false,
    group: "command",
    description: "Namespace of the object; ignored for kinds without namespaces",
    default: "default"
  }),
  watch: Setting.make(Codecs.boolean, {
    name: "watch",
    aliases: ["w"],
    env: false,
    group: "command",
    description: "Print what happens from now on, too, until a signal",
    default: "false"
  }),
  ...Output.settings
}

export const summary = "Prints what the controllers of a running program have done to an object, and why"

export const command = (host: Host) =>
  Command.make(
    "explain",
    { object: Argument.String("kind/name"), flags: Flags.of(settings) },
    Effect.fnUntraced(function* ({ flags, object }) {
      const { values } = yield* Effect.fromResult(
        Sources.resolve(settings, { flags: Flags.given(flags), env: host.env })
      )
      const source = yield* sourceOf(values)
      const asked = yield* parse(object, values.namespace)
      const format = values.output
      let isRead = true
      host.stdout.on("error", () => {
        isRead = false
      })
      let printed: ReadonlySet<number> = new Set()
      for (let isContinued = false; ; isContinued = true) {
        const view = yield* find(source, asked)
        const entries = unseen(view.timeline, printed, values.watch)
        if (!isContinued || entries.length > 0) {
          yield* Report.print(host, format, report(view, entries, isContinued))
        }
        if (!values.watch || !isRead) return
        // Only of entries that may come again.
        const ids = new Set(entries.map(({ id }) => id))
        printed = new Set(view.timeline.flatMap(({ id }) => (printed.has(id) || ids.has(id) ? [id] : [])))
        yield* Effect.sleep("1 second")
      }
    })
  ).pipe(Command.withDescription(summary))

/** `kind` may have several names; the namespace is tried first. */
interface Asked {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** `deployment/web`, `deployment/shop/web`. */
const parse = (text: string, namespace: string): Effect.Effect<Asked, Sources.SettingError> => {
  const [kind = "", first = "", second, ...more] = text.split("/")
  if (kind === "" || first === "" || second === "" || more.length > 0) {
    const message = `"${text}" is not an object: give its kind and its name, as in deployment/web`
    return Effect.fail(new Sources.SettingError({ message }))
  }
  return Effect.succeed(
    second === undefined ? { kind, namespace, name: first } : { kind, namespace: first, name: second }
  )
}

interface Source {
  readonly origin: string
  readonly token: string
  readonly agent: Agent
}

const missing =
  "--console is missing: the address that the running program prints at its start, as http://127.0.0.1:8082/console/#token=..."

const sourceOf = Effect.fnUntraced(function* (values: Setting.Values<typeof settings>) {
  if (Option.isNone(values.console)) return yield* new Sources.SettingError({ message: missing })
  const text = values.console.value
  const address = URL.canParse(text) ? new URL(text) : undefined
  // The message does not repeat what may be a token.
  if (address === undefined || !/^https?:$/.test(address.protocol)) {
    return yield* new Sources.SettingError({
      message: "--console is not an address that begins with http:// or https://"
    })
  }
  if (address.protocol === "http:" && !isLoopback(address.hostname.replace(/[[\]]/g, ""))) {
    const message = `--console: a token is sent to another machine over HTTPS only, and a console at ${address.hostname} has no other protocol`
    return yield* new Sources.SettingError({ message })
  }
  const own = Option.map(values.consoleToken, Redacted.value)
  const ca = yield* Option.match(values.consoleCa, {
    onNone: () => Effect.succeed(undefined),
    onSome: (path) =>
      Effect.tryPromise({
        try: () => readFile(path, "utf8"),
        catch: (cause) => new ExplainFailed({ message: `cannot read ${path}: ${reasonOf(cause)}` })
      })
  })
  const { Agent } = yield* Effect.promise(() => import("undici"))
  const source: Source = {
    origin: address.origin,
    token: Option.getOrElse(own, () => new URLSearchParams(address.hash.slice(1)).get("token") ?? ""),
    agent: new Agent({ connect: ca === undefined ? {} : { ca }, headersTimeout: 10_000, bodyTimeout: 10_000 })
  }
  return source
})

/** The object in the namespace, or the one without a namespace if its kind has none. */
const find = Effect.fnUntraced(function* (source: Source, { kind, name, namespace }: Asked) {
  const inNamespace = yield* get(source, [kind, namespace, name])
  if (inNamespace.exists || inNamespace.timeline.length > 0) return inNamespace
  const alone = yield* get(source, [kind, name])
  return alone.exists || alone.timeline.length > 0 ? alone : inNamespace
})

const get = (source: Source, names: ReadonlyArray<string>): Effect.Effect<ObjectView, ExplainFailed> =>
  Effect.gen(function* () {
    const url = `${source.origin}/console/api/objects/${names.map(encodeURIComponent).join("/")}`
    const { body, status } = yield* Effect.tryPromise({
      try: async () => {
        const { request } = await import("undici")
        const response = await request(url, {
          dispatcher: source.agent,
          headers: source.token === "" ? {} : { authorization: `Bearer ${source.token}` }
        })
        return { status: response.statusCode, body: await response.body.json().catch(() => undefined) }
      },
      catch: (cause) =>
        new ExplainFailed({ message: `the console at ${source.origin} did not respond: ${reasonOf(cause)}` })
    })
    if (status !== 200) {
      const { message } = (body ?? {}) as { readonly message?: unknown }
      const why = typeof message === "string" ? message : `status ${status}`
      return yield* new ExplainFailed({ message: `the console at ${source.origin} refused: ${why}` })
    }
    if (!isView(body)) return yield* new ExplainFailed({ message: `there is no console at ${source.origin}` })
    return body
  })

const isView = (body: unknown): body is ObjectView =>
  typeof body === "object" && body !== null && "timeline" in body && Array.isArray(body.timeline)

const reasonOf = (cause: unknown): string => {
  const message = cause instanceof Error ? cause.message : ""
  const code = String((cause as { readonly code?: unknown } | null)?.code ?? cause)
  // Source: the errors of OpenSSL's X509_verify_cert, as Node names them.
  const isUnknown = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/.test(code)
  return `${message === "" ? code : message}${isUnknown ? ": give a file with the authority of its certificate by --console-ca" : ""}`
}

/** The entries that were not printed. While it watches, a run is printed when it has ended, so that each is printed once. */
export const unseen = (
  timeline: ReadonlyArray<Entry>,
  printed: ReadonlySet<number>,
  isWatching: boolean
): ReadonlyArray<Entry> => {
  const isDue = (entry: Entry) => !isWatching || entry.type !== "reconcile" || entry.outcome !== "running"
  return timeline.filter((entry) => !printed.has(entry.id) && isDue(entry))
}

/** The fields of the value are those of `/debug/objects`, documented in `docs/operations.md`. */
export const report = (
  view: ObjectView,
  entries: ReadonlyArray<Entry>,
  isContinued: boolean
): Report.Report<Entry> => ({
  value: { ...view, timeline: entries },
  columns,
  rows: entries,
  isContinued,
  text: entries.length > 0 || isContinued ? undefined : nothing(view)
})

const nothing = ({ exists, key, kind }: ObjectView): string =>
  exists
    ? `${kind} ${key} is in the cache, and nothing has happened to it since the program started to record`
    : `${kind} ${key} is not in the cache of the program, and nothing is recorded of it`

const columns: ReadonlyArray<Column<Entry>> = [
  { title: "TIME", cell: ({ at }) => new Date(at).toISOString().slice(11, 23) },
  { title: "WHAT", cell: ({ type }) => type },
  { title: "CONTROLLER", cell: (entry) => (entry.type === "change" ? "" : entry.controller) },
  { title: "DETAIL", cell: (entry) => detailOf(entry) },
  { title: "TOOK", isWide: true, cell: (entry) => ("duration" in entry ? took(entry.duration) : "") },
  { title: "ID", isWide: true, cell: ({ id }) => String(id) },
  {
    title: "CAUSED BY",
    isWide: true,
    cell: (entry) => (entry.type === "change" ? "" : entry.causes.flatMap((id) => id ?? []).join(","))
  }
]

const took = (millis: number | null): string => (millis === null ? "" : `${Math.round(millis)} ms`)

const detailOf = (entry: Entry): string => {
  switch (entry.type) {
    case "change":
      return `${entry.kind} ${entry.key} ${entry.change}${entry.paths.length === 0 ? "" : `: ${entry.paths.join(", ")}`}`
    case "reconcile": {
      const again = entry.due === undefined ? "" : `, again at ${new Date(entry.due).toISOString().slice(11, 19)}`
      const failed = entry.error === undefined ? "" : `: ${entry.error}`
      return `${entry.key} ${entry.outcome}${failed}${again}; because: ${entry.reasons.join("; ")}`
    }
    case "write": {
      const path = entry.subresource === undefined ? entry.key : `${entry.key}/${entry.subresource}`
      return `${entry.verb} ${entry.resource} ${path}: ${entry.status ?? "no response"}${entry.error === undefined ? "" : ` ${entry.error}`}`
    }
    case "event":
      return `${entry.kind} ${entry.reason} of ${entry.resource} ${entry.key}: ${entry.message}`
  }
}
