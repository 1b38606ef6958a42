/**
 * What it takes to collect the metrics of the pods: a Service, the port, the certificate where it is
 * mounted, and a ServiceMonitor on request. As kubebuilder ships it: HTTPS, with authorization. Pure.
 */
import * as Option from "effect/Option"
import type * as Setting from "../setting.ts"
import { isLoopback } from "../../layers/http/address.ts"
import { metricsAt } from "../settings/servers.ts"
import * as Installation from "./Installation.ts"
import type { Manifest, Metrics } from "./Installation.ts"
import type { settings } from "./settings.ts"

type Values = Setting.Values<typeof settings>

/** What a ServiceMonitor verifies has to be shared by all pods. */
const monitored = "/etc/metrics-certificate"

/** `name`: of the program. */
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

/** Of the Service that collectors find the pods by. */
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

/** The collector shows the token of its own account, which has to be bound to the reader's role. */
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
