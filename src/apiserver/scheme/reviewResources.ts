/**
 * Kinds that are questions: an object is created, nothing is stored, and the answer is the same object with a status. What
 * they answer is in `verbs/reviews.ts`.
 */
import * as ResourceDefinition from "./ResourceDefinition.ts"

const question = { version: "v1", verbs: ["create"], review: true } as const
const authorization = { ...question, group: "authorization.k8s.io" } as const
const authentication = { ...question, group: "authentication.k8s.io", namespaced: false } as const

export const reviews: ReadonlyArray<ResourceDefinition.ResourceDefinition> = [
  ResourceDefinition.make({ ...authentication, kind: "TokenReview", plural: "tokenreviews" }),
  ResourceDefinition.make({ ...authentication, kind: "SelfSubjectReview", plural: "selfsubjectreviews" }),
  ResourceDefinition.make({
    ...authorization,
    kind: "SubjectAccessReview",
    plural: "subjectaccessreviews",
    namespaced: false
  }),
  ResourceDefinition.make({
    ...authorization,
    kind: "SelfSubjectAccessReview",
    plural: "selfsubjectaccessreviews",
    namespaced: false
  }),
  ResourceDefinition.make({
    ...authorization,
    kind: "SelfSubjectRulesReview",
    plural: "selfsubjectrulesreviews",
    namespaced: false
  }),
  ResourceDefinition.make({ ...authorization, kind: "LocalSubjectAccessReview", plural: "localsubjectaccessreviews" })
]
