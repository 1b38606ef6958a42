/** Kinds about identities and rights: `rbac.authorization.k8s.io`, `authentication.k8s.io`, `authorization.k8s.io`, `certificates.k8s.io`. */
import type {
  V1CertificateSigningRequest,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1LocalSubjectAccessReview,
  V1Role,
  V1RoleBinding,
  V1SelfSubjectAccessReview,
  V1SelfSubjectReview,
  V1SelfSubjectRulesReview,
  V1SubjectAccessReview,
  V1TokenReview
} from "@kubernetes/client-node"
import type { Stored } from "../Meta.ts"
import * as Resource from "../Resource.ts"

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" } as const
const authorization = { group: "authorization.k8s.io", version: "v1" } as const
const authentication = { group: "authentication.k8s.io", version: "v1" } as const

/** Rights that can be granted in one namespace or in all. Cluster-scoped. */
export interface ClusterRole extends Stored<V1ClusterRole> {}
export const ClusterRole = /* @__PURE__ */ Resource.make<ClusterRole>()({
  ...rbac,
  kind: "ClusterRole",
  plural: "clusterroles",
  scope: "Cluster"
})

/** Rights in one namespace. */
export interface Role extends Stored<V1Role> {}
export const Role = /* @__PURE__ */ Resource.make<Role>()({ ...rbac, kind: "Role", plural: "roles" })

/** Grants a Role or a ClusterRole in one namespace. */
export interface RoleBinding extends Stored<V1RoleBinding> {}
export const RoleBinding = /* @__PURE__ */ Resource.make<RoleBinding>()({
  ...rbac,
  kind: "RoleBinding",
  plural: "rolebindings"
})

/** Grants a ClusterRole in all namespaces. Cluster-scoped. */
export interface ClusterRoleBinding extends Stored<V1ClusterRoleBinding> {}
export const ClusterRoleBinding = /* @__PURE__ */ Resource.make<ClusterRoleBinding>()({
  ...rbac,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  scope: "Cluster"
})

/** Asks for a certificate, which a signer issues once the request is approved. Cluster-scoped. */
export interface CertificateSigningRequest extends Stored<V1CertificateSigningRequest> {}
export const CertificateSigningRequest = /* @__PURE__ */ Resource.make<CertificateSigningRequest>()({
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  scope: "Cluster"
})

/** Asks which user a token belongs to. Only created: the response has the answer. Cluster-scoped. */
export interface TokenReview extends Stored<V1TokenReview> {}
export const TokenReview = /* @__PURE__ */ Resource.createOnly<TokenReview>()({
  ...authentication,
  kind: "TokenReview",
  plural: "tokenreviews",
  scope: "Cluster"
})

/** Asks as which user the API server knows the caller. Only created: the response has the answer. Cluster-scoped. */
export interface SelfSubjectReview extends Stored<V1SelfSubjectReview> {}
export const SelfSubjectReview = /* @__PURE__ */ Resource.createOnly<SelfSubjectReview>()({
  ...authentication,
  kind: "SelfSubjectReview",
  plural: "selfsubjectreviews",
  scope: "Cluster"
})

/** Asks whether a user may do something. Only created: the response has the answer. Cluster-scoped. */
export interface SubjectAccessReview extends Stored<V1SubjectAccessReview> {}
export const SubjectAccessReview = /* @__PURE__ */ Resource.createOnly<SubjectAccessReview>()({
  ...authorization,
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  scope: "Cluster"
})

/** Asks whether the caller may do something. Only created: the response has the answer. Cluster-scoped. */
export interface SelfSubjectAccessReview extends Stored<V1SelfSubjectAccessReview> {}
export const SelfSubjectAccessReview = /* @__PURE__ */ Resource.createOnly<SelfSubjectAccessReview>()({
  ...authorization,
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  scope: "Cluster"
})

/** Asks what the caller may do in a namespace. Only created: the response has the answer. Cluster-scoped. */
export interface SelfSubjectRulesReview extends Stored<V1SelfSubjectRulesReview> {}
export const SelfSubjectRulesReview = /* @__PURE__ */ Resource.createOnly<SelfSubjectRulesReview>()({
  ...authorization,
  kind: "SelfSubjectRulesReview",
  plural: "selfsubjectrulesreviews",
  scope: "Cluster"
})

/** Asks whether a user may do something in this namespace. Only created: the response has the answer. */
export interface LocalSubjectAccessReview extends Stored<V1LocalSubjectAccessReview> {}
export const LocalSubjectAccessReview = /* @__PURE__ */ Resource.createOnly<LocalSubjectAccessReview>()({
  ...authorization,
  kind: "LocalSubjectAccessReview",
  plural: "localsubjectaccessreviews"
})
