/**
 * The only module that loads `@kubernetes/client-node`. Its `KubeConfig` knows OIDC; `plain.ts` reads all other credentials, and `exec.ts` runs exec
 * plugins. The package has a thousand files, so it is loaded with `import()` when a user of a kubeconfig has an auth provider. `credentials.ts`
 * corrects what it gets wrong.
 */
import { KubeConfig } from "@kubernetes/client-node"
import type { Applied, Cluster, User } from "./plain.ts"

/** Each instance caches the credentials of its plugin; a new instance runs the plugin again. Its `agent` is not used, because it keeps the first certificate forever. */
export const make = (cluster: Cluster, user: User): (() => Promise<Applied>) => {
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ ...cluster }, user)
  return async () => {
    const applied: Applied = {}
    await config.applyToHTTPSOptions(applied)
    return applied
  }
}
