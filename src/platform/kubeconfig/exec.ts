/**
 * Runs an exec plugin for credentials: one process, in a process group of its own so that its children are killed with it, without stdin, and with
 * a limit on its output. The process never outlives the request for credentials. client-node would leave a plugin that hangs running, with an open
 * stdin. Source: client.authentication.k8s.io/v1; client-go `plugin/pkg/client/auth/exec`.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { isDictionary, text } from "./document.ts"

export interface Plugin {
  /** A path, or a name that is searched in `PATH`. */
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>
}

/** A token, a certificate with its key, or both. */
export interface Credential {
  readonly token: string | undefined
  /** PEM. */
  readonly certificate: string | undefined
  readonly key: string | undefined
  /** RFC 3339. Undefined: valid until the server responds with 401. */
  readonly expires: string | undefined
}

/** Limit of the output in characters; a certificate with its key has a few thousand. */
const longest = 1024 * 1024

/** `cause`: the error of the operating system or the plugin's stderr; a `TypeError` or `SyntaxError` if its output is not an ExecCredential. */
export class PluginError extends Data.TaggedError("PluginError")<{ readonly cause: unknown }> {}

const failed = (cause: unknown): PluginError => new PluginError({ cause })

export const ask = (plugin: Plugin): Effect.Effect<Credential, PluginError> =>
  Effect.flatMap(outputOf(plugin), (output) => Effect.try({ try: () => read(output), catch: failed }))

const outputOf = ({ args, command, env }: Plugin): Effect.Effect<string, PluginError> =>
  Effect.callback((resume) => {
    const child = spawn(command, args, {
      // oxlint-disable-next-line node/no-process-env -- a plugin inherits this process's environment, as in client-go
      env: { ...process.env, ...env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"]
    })
    const end = (cause: unknown) => {
      kill(child)
      resume(Effect.fail(failed(cause)))
    }
    const texts = { stdout: "", stderr: "" }
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (part: string) => {
        texts[name] += part
        if (texts[name].length > longest) end(new TypeError("too much output"))
      })
    }
    child.on("error", end)
    // On `close`, not on `exit`: its output may not have been read completely when it exits.
    child.on("close", (code) =>
      resume(code === 0 ? Effect.succeed(texts.stdout) : Effect.fail(failed(new Error(texts.stderr))))
    )
    return Effect.sync(() => kill(child))
  })

/** Kills the process group; on Windows, which has none, the plugin alone. */
const kill = (child: ChildProcess): void => {
  child.stdout?.destroy()
  child.stderr?.destroy()
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
  } catch {
    child.kill("SIGKILL")
  }
}

const read = (output: string): Credential => {
  const { status }: { readonly status?: unknown } = JSON.parse(output)
  if (!isDictionary(status)) throw new TypeError("no status")
  const found = {
    token: text(status, "token"),
    certificate: text(status, "clientCertificateData"),
    key: text(status, "clientKeyData"),
    expires: text(status, "expirationTimestamp")
  }
  const isPair = found.certificate !== undefined && found.key !== undefined
  if (!isPair && (found.token === undefined || found.certificate !== found.key)) throw new TypeError("no credential")
  return found
}
