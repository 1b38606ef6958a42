/** What becomes of the ConfigMap of a namespace. Pure and total; a second look at its outcome answers with nothing. */
import type { Draft } from "../../kube/Meta.ts"
import type { ConfigMap } from "../../kube/resources.ts"

export const name = "kube-root-ca.crt"

const annotation = "kubernetes.io/description"

const description =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."

export interface Gathered {
  readonly namespace: string
  readonly found: ConfigMap | undefined
  /** PEM. */
  readonly rootCa: string
}

export type Plan =
  | { readonly _tag: "Done" }
  | { readonly _tag: "Create"; readonly draft: Draft<ConfigMap> }
  | { readonly _tag: "Update"; readonly object: ConfigMap }

export const plan = ({ found, namespace, rootCa }: Gathered): Plan => {
  const data = { "ca.crt": rootCa }
  if (found === undefined) {
    return {
      _tag: "Create",
      draft: { metadata: { namespace, name, annotations: { [annotation]: description } }, data }
    }
  }
  if (isSaid(found, rootCa)) return { _tag: "Done" }
  const annotations = { ...found.metadata.annotations, [annotation]: description }
  return { _tag: "Update", object: { ...found, metadata: { ...found.metadata, annotations }, data } }
}

/** Nothing else may be in it, because whoever mounts it sees all of it; the description may be another's. */
const isSaid = ({ data, metadata }: ConfigMap, rootCa: string): boolean =>
  data?.["ca.crt"] === rootCa && Object.keys(data).length === 1 && (metadata.annotations?.[annotation] ?? "") !== ""
