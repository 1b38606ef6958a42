/**
 * The only door to `@kubernetes/client-node`: its `KubeConfig`, which knows the ways in which a kubeconfig holds credentials (OIDC
 * among them; exec plugins are asked by `exec.ts`). Named imports, and loaded with `import()` when a kubeconfig is really used, because the package is
 * a thousand files. What it gets wrong is put right by its caller.
 */
import { KubeConfig } from "@kubernetes/client-node"

export interface Cluster {
  readonly name: string
  readonly server: string
  readonly caFile?: string
  readonly caData?: string
  readonly tlsServerName?: string
  readonly skipTLSVerify: boolean
}

export interface User {
  readonly name: string
  readonly certFile?: string
  readonly certData?: string
  readonly keyFile?: string
  readonly keyData?: string
  readonly token?: string
  readonly username?: string
  readonly password?: string
  readonly authProvider?: unknown
}

/** What `applyToHTTPSOptions` fills in; its `agent` is never used, because it keeps the first certificate for ever. */
export interface Applied {
  headers?: Record<string, string>
  auth?: string
  ca?: string | Buffer
  cert?: string | Buffer
  key?: string | Buffer
  servername?: string
  rejectUnauthorized?: boolean
}

/** Each instance has its own cache of plugin credentials; a new one asks the plugin again. */
export const make = (cluster: Cluster, user: User): (() => Promise<Applied>) => {
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ ...cluster }, user)
  return async () => {
    const applied: Applied = {}
    await config.applyToHTTPSOptions(applied)
    return applied
  }
}
