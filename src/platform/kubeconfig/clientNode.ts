/**
 * The only module that loads `@kubernetes/client-node`. Its `KubeConfig` knows how a kubeconfig holds credentials, OIDC among them; `exec.ts` runs
 * exec plugins. The package has a thousand files, so it is loaded with `import()` when a kubeconfig is used. `credentials.ts` corrects what it gets
 * wrong.
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

/** The fields that `applyToHTTPSOptions` sets. Its `agent` is not used, because it keeps the first certificate forever. */
export interface Applied {
  headers?: Record<string, string>
  auth?: string
  ca?: string | Buffer
  cert?: string | Buffer
  key?: string | Buffer
  servername?: string
  rejectUnauthorized?: boolean
}

/** Each instance caches the credentials of its plugin; a new instance runs the plugin again. */
export const make = (cluster: Cluster, user: User): (() => Promise<Applied>) => {
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ ...cluster }, user)
  return async () => {
    const applied: Applied = {}
    await config.applyToHTTPSOptions(applied)
    return applied
  }
}
