/** Types of all manifests: an object, the options of an installation, and the metadata that its objects share. Pure. */
import type * as Webhook from "../../layers/Webhook.ts"

/** An object of any kind: plain data, to be printed. */
export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

export interface Options {
  /** The name of the account, the roles and the workload. */
  readonly name: string
  /** The namespace of the installation. */
  readonly namespace: string
  readonly image: string
  /** The arguments of the program in its pods. */
  readonly args: ReadonlyArray<string>
  /** The terminationGracePeriodSeconds of the pods. */
  readonly graceSeconds: number
  readonly metrics: Metrics
  /** The port of the console; undefined if other pods cannot reach it. */
  readonly console: number | undefined
  /** The minor version of the oldest server to support: 21 is Kubernetes 1.21. */
  readonly minorVersion: number
  /** The port of the probes; undefined if they are off. */
  readonly probes: number | undefined
  /** Undefined if there are no webhooks. */
  readonly webhooks?: Webhooks | undefined
  /** All replicas work: the work is divided into shards. */
  readonly isDivided: boolean
}

export interface Metrics {
  /** The port of the metrics; undefined if other pods cannot reach it. */
  readonly port: number | undefined
  /** HTTPS, with authorization. */
  readonly isSecure: boolean
  /** A Secret with `tls.crt`, `tls.key` and `ca.crt`. Undefined: each pod creates a self-signed certificate, which no client can verify. */
  readonly certificate: { readonly secretName: string; readonly mountPath: string } | undefined
  /** A ServiceMonitor of the Prometheus operator is included. */
  readonly isMonitored: boolean
}

export interface Webhooks {
  readonly declared: ReadonlyArray<Webhook.Any>
  /** The port of the webhooks in the pods. */
  readonly port: number
  /** The mount path of the Secret with the certificate; undefined if the program creates its own. */
  readonly mountPath: string | undefined
}

export const selector = ({ name }: Pick<Options, "name">) => ({ "app.kubernetes.io/name": name })

export const labels = (options: Pick<Options, "name">) => ({
  ...selector(options),
  "app.kubernetes.io/component": "controller-manager"
})

export const metadata = (options: Options) => ({
  name: options.name,
  namespace: options.namespace,
  labels: labels(options)
})
