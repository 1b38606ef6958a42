/** Whether and how the ConfigMap with the CA bundle of a namespace is written. Pure. Source: pkg/controller/certificates/rootcacertpublisher. */
import type { Draft } from "../../kube/Meta.ts"
import type { ConfigMap } from "../../kube/resources.ts"

export const configMapName = "kube-root-ca.crt"

const annotation = "kubernetes.io/description"

const description =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."

export interface Snapshot {
  readonly namespace: string
  readonly found: ConfigMap | undefined
  /** PEM. */
  readonly rootCa: string
}

export type Plan =
  | { readonly _tag: "Done" }
  | { readonly _tag: "Create"; readonly draft: Draft<ConfigMap> }
  | { readonly _tag: "Update"; readonly object: ConfigMap }

/** Pure and idempotent: after the plan is applied, the next plan is `Done`. */
export const plan = ({ found, namespace, rootCa }: Snapshot): Plan => {
  const data = { "ca.crt": rootCa }
  if (found === undefined) {
    return {
      _tag: "Create",
      draft: { metadata: { namespace, name: configMapName, annotations: { [annotation]: description } }, data }
    }
  }
  if (isPublished(found, rootCa)) return { _tag: "Done" }
  const annotations = { ...found.metadata.annotations, [annotation]: description }
  return { _tag: "Update", object: { ...found, metadata: { ...found.metadata, annotations }, data } }
}

/** Other data is removed, because pods mount the whole ConfigMap; another description is kept. */
const isPublished = ({ data, metadata }: ConfigMap, rootCa: string): boolean =>
  data?.["ca.crt"] === rootCa && Object.keys(data).length === 1 && (metadata.annotations?.[annotation] ?? "") !== ""
