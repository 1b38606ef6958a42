/**
 * Asks an exec plugin for credentials: one process, in a group of its own so that what it has started ends with it, without input, and
 * with no more output than a credential needs. It does not outlive the question. client-node's own way leaves a plugin that hangs running, with
 * an input that never ends. Platform edge. Source: client.authentication.k8s.io/v1; client-go `plugin/pkg/client/auth/exec`.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { isDictionary, text } from "./document.ts"

export interface Plugin {
  /** A path, or a name to be looked for in `PATH`. */
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Beside the environment of this process. */
  readonly env: Readonly<Record<string, string>>
}

/** A token, a certificate with its key, or both. */
export interface Credential {
  readonly token: string | undefined
  /** PEM. */
  readonly certificate: string | undefined
  readonly key: string | undefined
  /** RFC 3339; undefined: it is good until the server says otherwise. */
  readonly expires: string | undefined
}

/** Characters; a certificate with its key has a few thousand. */
const longest = 1024 * 1024

/** `cause`: what the system or the plugin's standard error said; a `TypeError` or `SyntaxError` when it printed something else. */
export class PluginError extends Data.TaggedError("PluginError")<{ readonly cause: unknown }> {}

const failed = (cause: unknown): PluginError => new PluginError({ cause })

export const ask = (plugin: Plugin): Effect.Effect<Credential, PluginError> =>
  Effect.flatMap(outputOf(plugin), (output) => Effect.try({ try: () => read(output), catch: failed }))

const outputOf = ({ args, command, env }: Plugin): Effect.Effect<string, PluginError> =>
  Effect.callback((resume) => {
    const child = spawn(command, args, {
      // oxlint-disable-next-line node/no-process-env -- a plugin has the environment of whoever starts it, as with client-go
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
    // Not when it exits: what it has printed may still be on the way.
    child.on("close", (code) =>
      resume(code === 0 ? Effect.succeed(texts.stdout) : Effect.fail(failed(new Error(texts.stderr))))
    )
    return Effect.sync(() => kill(child))
  })

/** Where there are no groups it is the plugin alone. */
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
