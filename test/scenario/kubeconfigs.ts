/**
 * Kubeconfigs for the scenarios, as files that exist until a scope closes.
 */
import * as Effect from "effect/Effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Process from "../support/process.ts"

export interface Access {
  readonly server: string
  /** PEM. */
  readonly ca?: string | undefined
  readonly user?: object | undefined
  /** The server name for TLS, where the certificate does not have the address. */
  readonly tlsServerName?: string | undefined
}

export const content = ({ ca, server, tlsServerName, user }: Access) => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "test",
  contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  clusters: [
    {
      name: "test",
      cluster: {
        server,
        ...(tlsServerName === undefined ? {} : { "tls-server-name": tlsServerName }),
        ...(ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") })
      }
    }
  ],
  users: [{ name: "test", user: user ?? {} }]
})

/** Writes any text and returns the path. */
export const file = Effect.fnUntraced(function* (text: string) {
  const path = join(yield* Process.folder, "kubeconfig")
  yield* Effect.promise(() => writeFile(path, text, { mode: 0o600 }))
  return path
})

export const write = (access: Access) => file(JSON.stringify(content(access)))
