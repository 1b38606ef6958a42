/**
 * What a collector needs to scrape the metrics of the pods: a Service, the port, a mounted certificate, and on request a ServiceMonitor. As in
 * kubebuilder: HTTPS, with authorization. Pure.
 */
import * as Option from "effect/Option"
import type * as Setting from "../../layers/Setting.ts"
import { isLoopback } from "../../layers/http/address.ts"
import { metricsAt } from "../settings/servers.ts"
import * as Installation from "./Installation.ts"
import type { Manifest, Metrics } from "./Installation.ts"
import type { settings } from "./settings.ts"

type Values = Setting.Values<typeof settings>

/** Mount path of the certificate that a ServiceMonitor verifies; all pods share it. */
const monitored = "/etc/metrics-certificate"

/** `name`: the name of the program. */
export const metricsOf = (values: Values, name: string): Metrics => {
  const address = metricsAt(values)
  const isSecure = values.metricsSecure && address !== undefined
  const mountPath = Option.getOrElse(values.metricsCertPath, () => (values.serviceMonitor ? monitored : undefined))
  return {
    port: address === undefined || isLoopback(address.host) ? undefined : address.port,
    isSecure,
    certificate: isSecure && mountPath !== undefined ? { secretName: `${name}-metrics-cert`, mountPath } : undefined,
    isMonitored: values.serviceMonitor
  }
}

/** A ServiceMonitor was requested, but no other pod can reach the metrics. */
export const isUnreachable = (values: Values): boolean =>
  values.serviceMonitor && metricsOf(values, "").port === undefined

/** The name of the Service by which collectors find the pods. */
const serviceName = (options: Installation.Options): string => `${options.name}-metrics`

export const all = (options: Installation.Options): ReadonlyArray<Manifest> =>
  options.metrics.port === undefined
    ? []
    : [service(options), ...(options.metrics.isMonitored ? [serviceMonitor(options)] : [])]

const service = (options: Installation.Options): Manifest => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { ...Installation.metadata(options), name: serviceName(options) },
  spec: {
    clusterIP: "None",
    selector: Installation.selector(options),
    ports: [{ name: "metrics", port: options.metrics.port, targetPort: "metrics" }]
  }
})

/** The collector sends the token of its own account, which must be bound to the reader's role. */
const serviceMonitor = (options: Installation.Options): Manifest => ({
  apiVersion: "monitoring.coreos.com/v1",
  kind: "ServiceMonitor",
  metadata: Installation.metadata(options),
  spec: {
    selector: { matchLabels: Installation.selector(options) },
    endpoints: [{ port: "metrics", path: "/metrics", ...(options.metrics.isSecure ? secured(options) : {}) }]
  }
})

const secured = (options: Installation.Options) => ({
  scheme: "https",
  bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token",
  tlsConfig: {
    ca: { secret: { name: options.metrics.certificate?.secretName, key: "ca.crt" } },
    serverName: `${serviceName(options)}.${options.namespace}.svc`
  }
})
