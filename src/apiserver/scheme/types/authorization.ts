/** Types of authorization: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
FieldSelectorAttributes rawSelector:s requirements:[]meta.FieldSelectorRequirement
LabelSelectorAttributes rawSelector:s requirements:[]meta.LabelSelectorRequirement
LocalSubjectAccessReview apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:SubjectAccessReviewSpec status&:SubjectAccessReviewStatus
NonResourceAttributes path:s verb:s
NonResourceRule nonResourceURLs:[]s verbs!:[]s
ResourceAttributes fieldSelector:FieldSelectorAttributes group:s labelSelector:LabelSelectorAttributes name:s namespace:s resource:s subresource:s verb:s version:s
ResourceRule apiGroups:[]s resourceNames:[]s resources:[]s verbs!:[]s
SelfSubjectAccessReview apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:SelfSubjectAccessReviewSpec status&:SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec nonResourceAttributes:NonResourceAttributes resourceAttributes:ResourceAttributes
SelfSubjectRulesReview apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:SelfSubjectRulesReviewSpec status&:SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec namespace:s
SubjectAccessReview apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:SubjectAccessReviewSpec status&:SubjectAccessReviewStatus
SubjectAccessReviewSpec extra:{}[]s groups:[]s nonResourceAttributes:NonResourceAttributes resourceAttributes:ResourceAttributes uid:s user:s
SubjectAccessReviewStatus allowed!:b denied:b evaluationError:s reason:s
SubjectRulesReviewStatus evaluationError:s incomplete!:b nonResourceRules!:[]NonResourceRule resourceRules!:[]ResourceRule
`
