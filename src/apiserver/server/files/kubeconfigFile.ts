/**
 * Writes the kubeconfig of the embedded server. It contains the token, so only its owner may read it: mode 0600 from the first byte, in
 * a directory of mode 0700, renamed into place when complete, removed when the scope closes. It is JSON, which is YAML.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import { mkdtemp, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ensure } from "./privateFolder.ts"

/** The file could not be written; the message is one sentence for the user. */
export class KubeconfigError extends Data.TaggedError("KubeconfigError")<{ readonly message: string }> {}

export interface Access {
  readonly server: string
  /** PEM. */
  readonly ca: string
  readonly token: Redacted.Redacted
}

/** Name of the context, and of the cluster and user in it. */
const context = "embedded"

const contents = (access: Access): string =>
  `${JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      "current-context": context,
      contexts: [{ name: context, context: { cluster: context, user: context } }],
      clusters: [
        {
          name: context,
          cluster: {
            server: access.server,
            "certificate-authority-data": Buffer.from(access.ca).toString("base64")
          }
        }
      ],
      users: [{ name: context, user: { token: Redacted.value(access.token) } }]
    },
    undefined,
    2
  )}\n`

/**
 * Writes the file and returns its path: `kubeconfig` in `directory`, or in a new directory below the temporary directory of the system.
 * Removes it when the scope closes.
 */
export const write = Effect.fnUntraced(function* (access: Access, directory?: string) {
  const own = directory === undefined
  const folder = yield* Effect.acquireRelease(
    directory === undefined
      ? io("create a directory for the kubeconfig", () => mkdtemp(join(tmpdir(), "embedded-cluster-")))
      : Effect.mapBoth(ensure(directory), {
          onFailure: ({ message }) => failed("use the directory for the kubeconfig", message),
          onSuccess: () => directory
        }),
    (folder) => (own ? quietly(() => rmdir(folder)) : Effect.void)
  )
  const path = join(folder, "kubeconfig")
  const text = contents(access)
  return yield* Effect.acquireRelease(
    Effect.suspend(() => {
      // Not randomness for the program: a name that no other process can have chosen.
      const part = join(folder, `.kubeconfig-${randomBytes(6).toString("hex")}`)
      const written = io(`write ${path}`, async () => {
        await writeFile(part, text, { mode: 0o600, flag: "wx" })
        await rename(part, path)
        return path
      })
      return Effect.tapError(written, () => quietly(() => rm(part, { force: true })))
    }),
    () =>
      quietly(async () => {
        // Another process that uses the same directory may have replaced it.
        if ((await readFile(path, "utf8")) === text) await rm(path)
      })
  )
})

const io = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, KubeconfigError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => failed(what, cause instanceof Error ? cause.message : String(cause))
  })

const failed = (what: string, why: string) => new KubeconfigError({ message: `cannot ${what}: ${why}` })

const quietly = (run: () => Promise<unknown>): Effect.Effect<void> =>
  Effect.ignore(Effect.tryPromise({ try: run, catch: () => undefined }))
