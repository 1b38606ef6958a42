/**
 * The credentials that a kubeconfig holds or names files of: certificates, keys, a token, a password. All but OIDC, which is a protocol and is
 * client-node's (`clientNode.ts`). client-node and what it imports would be half of the time of a start, so it is loaded for OIDC alone.
 */
import { readFile } from "node:fs/promises"

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

/** Named as the options of `node:https`, as client-node's `applyToHTTPSOptions` sets them. */
export interface Applied {
  headers?: Record<string, string>
  auth?: string
  ca?: string | Buffer
  cert?: string | Buffer
  key?: string | Buffer
  servername?: string
  rejectUnauthorized?: boolean
}

/** Reads the files, one after another, so that the first that cannot be read is the one that is reported. */
export const make = (cluster: Cluster, user: User) => async (): Promise<Applied> => {
  const ca = await content(cluster.caFile, cluster.caData)
  const cert = await content(user.certFile, user.certData)
  const key = await content(user.keyFile, user.keyData)
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(cluster.tlsServerName === undefined ? {} : { servername: cluster.tlsServerName }),
    ...(cluster.skipTLSVerify ? { rejectUnauthorized: false } : {}),
    ...(user.token === undefined ? {} : { headers: { Authorization: `Bearer ${user.token}` } }),
    ...(user.username === undefined ? {} : { auth: `${user.username}:${user.password ?? ""}` })
  }
}

const content = async (file: string | undefined, data: string | undefined): Promise<Buffer | undefined> => {
  if (file !== undefined) return await readFile(file)
  return data === undefined ? undefined : Buffer.from(data, "base64")
}
