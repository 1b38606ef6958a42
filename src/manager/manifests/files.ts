/** The manifests as a directory: a file for each kind, and a `kustomization.yaml` that makes a base for Kustomize of them. Pure. */
export interface File {
  /** Without a directory. */
  readonly name: string
  readonly documents: ReadonlyArray<object>
}

/** In the order of the manifests, the base last. */
export const files = (manifests: ReadonlyArray<{ readonly kind: string }>): ReadonlyArray<File> => {
  const kinds = [...new Set(manifests.map(({ kind }) => kind))]
  const named = kinds.map((kind) => ({
    name: `${kind.toLowerCase()}.yaml`,
    documents: manifests.filter((one) => one.kind === kind)
  }))
  const base = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: named.map(({ name }) => name)
  }
  return [...named, { name: "kustomization.yaml", documents: [base] }]
}
