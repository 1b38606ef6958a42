/** What all manifests are made of and from: their type, the options of an installation, and the metadata that its objects share. Pure. */
import type * as Webhook from "../../layers/Webhook.ts"

/** An object of any kind: plain data, to be printed. */
export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

export interface Options {
  /** Of the account, the roles and the workload. */
  readonly name: string
  /** Where it is installed. */
  readonly namespace: string
  readonly image: string
  /** Of the program, as its pods are to run it. */
  readonly args: ReadonlyArray<string>
  /** What a pod has to stop in order. */
  readonly graceSeconds: number
  readonly metrics: Metrics
  /** Of the oldest server that they are for: 21 is Kubernetes 1.21. */
  readonly minorVersion: number
  /** Of the pods; undefined where they are not served. */
  readonly probes: number | undefined
  /** Undefined where none are served. */
  readonly webhooks?: Webhooks | undefined
}

export interface Metrics {
  /** Of the pods; undefined where nothing outside of them reaches it. */
  readonly port: number | undefined
  /** For those alone who may read them, over HTTPS. */
  readonly isSecure: boolean
  /** A Secret with `tls.crt`, `tls.key` and `ca.crt`; undefined: each pod makes one that nothing can verify. */
  readonly certificate: { readonly secretName: string; readonly mountPath: string } | undefined
  /** A kind of the Prometheus operator is included. */
  readonly isMonitored: boolean
}

export interface Webhooks {
  readonly declared: ReadonlyArray<Webhook.Any>
  /** Of the pods. */
  readonly port: number
  /** Where the Secret with the certificate is mounted; undefined: the program keeps one by itself. */
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
